// The steps of an answer: tinted by confidence, marked below the threshold, each with its reason.

import { el } from "./dom.js";
import { AT_ONCE } from "./prose.js";
import { Row, textBox } from "./row.js";
import { appendUntrusted } from "./untrusted.js";

const MANY = 200;

export class Steps {
  #prose;
  /** @type {Row[]} */
  #rows = [];
  /** @type {Segment[]} */
  #shown = [];
  /** @type {{row: HTMLElement, box: HTMLElement} | null} */
  #writing = null;
  #t = 0;

  /**
   * `prose` writes texts. `element` is the list to put into the page.
   * @param {import("./prose.js").Prose} prose
   */
  constructor(prose) {
    this.#prose = prose;
    this.element = el("ol", { class: "steps", role: "list" });
    this.element.addEventListener("click", (event) => this.#onClick(event));
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("pointerover", () => this.element.classList.remove("hushed"));
  }

  clear() {
    this.element.replaceChildren();
    this.element.classList.remove("many");
    this.#rows = [];
    this.#shown = [];
    this.#writing = null;
  }

  /**
   * Append a segment of `segments()`. Blank text between claims is not shown.
   * @param {Segment} segment
   */
  add({ text, claim }) {
    this.#shown.push({ text, claim });
    if (!claim && !text.trim()) return;
    const row = claim ? this.#claimRow(text, claim) : this.#plainRow(text);
    if (this.#writing) this.#writing.row.before(row);
    else this.element.append(row);
  }

  /**
   * Show `text` as what is being written now; an empty one is not shown.
   * @param {string} text
   */
  write(text) {
    if (!text.trim()) {
      this.#writing?.row.remove();
      this.#writing = null;
      return;
    }
    const { box } = (this.#writing ??= this.#writingRow());
    box.replaceChildren();
    appendUntrusted(box, text.slice(0, AT_ONCE).trimStart());
    if (text.length > AT_ONCE) box.append(` … ${text.length.toLocaleString("en")} characters so far`);
  }

  #writingRow() {
    const box = textBox();
    const row = el("li", { class: "step writing" }, el("span", { class: "sure" }, "…"), box);
    this.element.append(row);
    return { row, box };
  }

  /**
   * Show exactly `segments`; rows that are already right stay as the reader left them.
   * @param {Segment[]} segments
   */
  settle(segments) {
    this.write("");
    const same = segments.length === this.#shown.length && segments.every((one, i) => isSame(one, this.#shown[i]));
    if (same) return;
    this.clear();
    for (const segment of segments) this.add(segment);
  }

  /**
   * Mark what lies below `t`.
   * @param {number} t
   */
  set threshold(t) {
    this.#t = t;
    for (const row of this.#rows) row.update(t);
  }

  /**
   * @param {string} text
   * @param {Claim} claim
   */
  #claimRow(text, claim) {
    const row = new Row(claim, this.#t, text);
    this.#prose.write(row.text, text);
    this.#prose.write(row.why, claim.explanation.trim() || "The model gave no reason.");
    this.#rows.push(row);
    this.element.classList.toggle("many", this.#rows.length > MANY);
    return row.element;
  }

  /** @param {string} text */
  #plainRow(text) {
    const box = textBox();
    this.#prose.write(box, text.trim());
    return el("li", { class: "plain" }, box);
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const element = event.target instanceof Element ? event.target.closest(".step") : null;
    const row = this.#rows.find((candidate) => candidate.element === element);
    const selecting = getSelection()?.isCollapsed === false;
    if (row && !selecting) row.toggle();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.key === "Escape") this.element.classList.add("hushed");
  }
}

/**
 * @param {Segment} one
 * @param {Segment} other
 */
function isSame(one, other) {
  const [a, b] = [one.claim, other.claim];
  if (one.text !== other.text) return false;
  if (!a || !b) return a === b;
  return a.confidence === b.confidence && a.explanation === b.explanation && String(a.problems) === String(b.problems);
}
