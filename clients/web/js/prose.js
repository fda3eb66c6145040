// A model's text in the page: untrusted, with its maths, and never more of it at once than a browser lays out quickly.

import { el } from "./dom.js";
import { splitAnswer, splitFormulas } from "./formulas.js";
import { appendUntrusted, hasInvisible } from "./untrusted.js";

export const AT_ONCE = 20_000;
/** Characters after which the rest waits behind a button. */

export class Prose {
  #maths;

  constructor(maths) {
    this.#maths = maths;
  }

  /** Replace what `parent` holds by `text`. */
  write(parent, text) {
    parent.replaceChildren();
    this.#continue(parent, text, 0, splitFormulas);
  }

  /** The same for a final answer. */
  writeAnswer(parent, answer) {
    parent.replaceChildren();
    this.#continue(parent, answer, 0, splitAnswer);
  }

  /** The same for what is shown exactly as it was written: no maths. */
  writeSource(parent, text) {
    parent.replaceChildren();
    this.#continue(parent, text, 0, (piece) => [{ text: piece }]);
  }

  #continue(parent, text, from, split) {
    const to = wholeCharacters(text, from + AT_ONCE);
    for (const piece of split(text.slice(from, to))) this.#append(parent, piece);
    if (to >= text.length) return;
    const more = el("button", { type: "button", class: "more" }, `Show more: ${left(text.length - to)} left`);
    more.addEventListener("click", (event) => {
      event.stopPropagation();
      more.remove();
      this.#continue(parent, text, to, split);
    });
    parent.append(more);
  }

  #append(parent, piece) {
    if (!piece.latex || hasInvisible(piece.text)) return appendUntrusted(parent, piece.text);
    const place = el("span", { class: piece.display ? "formula standing" : "formula" });
    appendUntrusted(place, piece.text);
    parent.append(place);
    this.#maths.show(place, piece);
  }
}

const left = (count) => `${count.toLocaleString("en")} characters`;

/** `at`, moved so that it does not cut a character of two units in half. */
function wholeCharacters(text, at) {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before < 0xdc00 ? at + 1 : at;
}
