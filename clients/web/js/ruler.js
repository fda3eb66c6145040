// The risk threshold: one slider that is both what the next question asks for and where the shown answer is decided.

import { el, find, setText } from "./dom.js";
import { percent, SLIDER } from "./words.js";

export class Ruler {
  #input = find("threshold", HTMLInputElement);
  #value = find("threshold-value");
  #before = find("threshold-before");
  #after = find("threshold-after");
  #consequence = find("consequence");
  #note = find("ruler-note");
  #ticks = find("ticks");
  #root = find("ruler");
  #floor = 0;
  #lockedBecause = "";

  /**
   * `onMove()` when the threshold changed; `askAgain(t)` when the user asks for one below the floor.
   * @param {{onMove: () => void, askAgain: (t: number) => void}} events
   */
  constructor({ onMove, askAgain }) {
    this.askAgain = askAgain;
    this.#input.addEventListener("input", () => {
      this.#hold();
      this.#show();
      onMove();
    });
    this.#show();
  }

  /** The threshold, 0 to 1. */
  get t() {
    return this.#input.valueAsNumber / 100;
  }

  set t(t) {
    this.#input.value = String(Math.round(100 * t));
    this.#hold();
    this.#show();
  }

  /**
   * What the threshold does.
   * @param {Mode} mode
   */
  set mode(mode) {
    const [before, after] = SLIDER[mode];
    setText(this.#before, before);
    setText(this.#after, after);
  }

  /**
   * What was measured at this threshold, in words. "" keeps its room, null does not.
   * @param {string | null} text
   */
  set consequence(text) {
    this.#consequence.hidden = text === null;
    setText(this.#consequence, text ?? "");
  }

  /** For when the button that the reader pressed is gone: the keyboard has to stand somewhere. */
  focus() {
    this.#input.focus({ preventScroll: true });
  }

  /**
   * Let it move no lower than `floor`, with `note` for why; 0 frees it.
   * @param {number} floor
   * @param {string} note
   */
  lock(floor, note = "") {
    this.#floor = floor;
    this.#lockedBecause = note;
    this.#root.style.setProperty("--floor", String(floor));
    this.#root.classList.toggle("locked", floor > 0);
    this.#write(note);
  }

  /**
   * What a screen reader says for the slider's position.
   * @param {string} text
   */
  describe(text) {
    this.#input.setAttribute("aria-valuetext", text ? `${percent(this.t)}: ${text}` : percent(this.t));
  }

  /**
   * Where the confidences lie: one tick for each percent that any of `steps` has, and one mark for the `whole`.
   * @param {(number | null)[]} steps
   * @param {number | null} whole
   */
  mark(steps, whole) {
    const counts = new Map();
    for (const p of steps) if (p !== null) counts.set(Math.round(100 * p), (counts.get(Math.round(100 * p)) ?? 0) + 1);
    const ticks = [...counts].map(([at, number]) => tick(at / 100, "tick", Math.min(number, 4)));
    if (whole !== null) ticks.push(nameOf(whole), tick(whole, "tick whole", 1));
    this.#ticks.replaceChildren(...ticks);
  }

  #hold() {
    const wanted = this.t;
    if (wanted >= this.#floor) return;
    this.#input.value = String(Math.round(100 * this.#floor));
    this.#write(this.#lockedBecause, wanted);
  }

  /**
   * @param {string} note
   * @param {number | null} again
   */
  #write(note, again = null) {
    this.#note.replaceChildren(el("span", {}, note));
    if (again === null) return;
    const onclick = () => this.askAgain(again);
    this.#note.append(" ", el("button", { type: "button", onclick }, `Ask again at ${percent(again)}`));
  }

  #show() {
    setText(this.#value, percent(this.t));
  }
}

/**
 * @param {number} at
 * @param {string} kind
 * @param {number} height
 */
function tick(at, kind, height) {
  const made = el("span", { class: kind });
  made.style.setProperty("--at", String(at));
  made.style.setProperty("--height", String(height));
  return made;
}

/**
 * What the mark of the whole is, on the side where its steps do not stand: they are at least as sure.
 * @param {number} at
 */
function nameOf(at) {
  const made = el("span", { class: at < 0.15 ? "mark-name after" : "mark-name" }, "this answer");
  made.style.setProperty("--at", String(at));
  return made;
}
