// The steps of an answer: tinted by confidence, marked below the threshold, each with its reason.

import { isBelow } from "./decide.js";
import { copyButton } from "./copy.js";
import { el } from "./dom.js";
import { AT_ONCE } from "./prose.js";
import { Row, textBox } from "./row.js";
import { appendUntrusted } from "./untrusted.js";

const MANY = 200;

export class Steps {
  #prose;
  #rows = [];
  #shown = [];
  #writing = null;
  #t = 0;

  /** `prose` writes texts. `element` is the list to put into the page. */
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
    [this.#rows, this.#shown, this.#writing] = [[], [], null];
  }

  /** Append a segment of `segments()`. Blank text between claims is not shown. */
  add(segment) {
    this.#shown.push(segment);
    if (!segment.claim && !segment.text.trim()) return;
    const row = segment.claim ? this.#claimRow(segment) : this.#plainRow(segment.text);
    if (this.#writing) this.#writing.before(row);
    else this.element.append(row);
  }

  /** Show `text` as what is being written now; an empty one is not shown. */
  write(text) {
    if (!text.trim()) {
      this.#writing?.remove();
      this.#writing = null;
      return;
    }
    if (!this.#writing) {
      this.#writing = el("li", { class: "step writing" }, el("span", { class: "sure" }, "…"), textBox());
      this.element.append(this.#writing);
    }
    const box = this.#writing.lastChild;
    box.replaceChildren();
    appendUntrusted(box, text.slice(0, AT_ONCE).trimStart());
    if (text.length > AT_ONCE) box.append(` … ${text.length.toLocaleString("en")} characters so far`);
  }

  /** Show exactly `segments`; rows that are already right stay as the reader left them. */
  settle(segments) {
    this.write("");
    const same = segments.length === this.#shown.length && segments.every((one, i) => isSame(one, this.#shown[i]));
    if (same) return;
    this.clear();
    for (const segment of segments) this.add(segment);
  }

  /** Mark what lies below `t`. */
  set threshold(t) {
    this.#t = t;
    for (const row of this.#rows) row.update(t);
  }

  #claimRow({ text, claim }) {
    const row = new Row(claim, this.#t, text);
    this.#prose.write(row.text, text);
    this.#prose.write(row.why, claim.explanation.trim() || "The model gave no reason.");
    this.#rows.push(row);
    this.element.classList.toggle("many", this.#rows.length > MANY);
    return row.element;
  }

  #plainRow(text) {
    const box = textBox();
    this.#prose.write(box, text.trim());
    return el("li", { class: "plain" }, box);
  }

  #onClick(event) {
    const element = event.target.closest(".step");
    const row = this.#rows.find((candidate) => candidate.element === element);
    const selecting = getSelection()?.isCollapsed === false;
    if (row && !selecting) row.toggle();
  }

  #onKey(event) {
    if (event.key === "Escape") this.element.classList.add("hushed");
  }
}

function isSame(one, other) {
  if (one.text !== other.text || !one.claim !== !other.claim) return false;
  if (!one.claim) return true;
  const [a, b] = [one.claim, other.claim];
  return a.confidence === b.confidence && a.explanation === b.explanation && String(a.problems) === String(b.problems);
}
