// A model's text in the page: untrusted, with its maths and Markdown, and never more of it at once than a browser lays
// out quickly.

import { el } from "./dom.js";
import { isBareLatex } from "./formulas.js";
import { libraries, loadLibraries } from "./libraries.js";
import { showFormula } from "./maths.js";
import { markdownNodes } from "./nodes.js";
import { appendUntrusted, hasInvisible } from "./untrusted.js";

export const AT_ONCE = 20_000;
/** Characters after which the rest waits behind a button. */

/** Whether a text has anything that Markdown or LaTeX could mean. */
const DRESSED = /[`$\\|]|\*\S|!?\[|<\w|^\s*(?:[-+*]|#{1,6}|\d{1,9}[.)]|-{3,})\s/mu;

export class Prose {
  /**
   * The text that each place shows: what is loaded late must not overwrite what came meanwhile.
   * @type {WeakMap<Element, string>}
   */
  #texts = new WeakMap();

  /**
   * Replace what `parent` holds by `text`.
   * @param {HTMLElement} parent
   * @param {string} text
   */
  write(parent, text) {
    this.#start(parent, text, DRESSED.test(text), appendDressed);
  }

  /**
   * The same for a final answer, which may be LaTeX without delimiters.
   * @param {HTMLElement} parent
   * @param {string} answer
   */
  writeAnswer(parent, answer) {
    const bare = isBareLatex(answer);
    this.#start(parent, answer, bare || DRESSED.test(answer), bare ? appendFormula : appendDressed);
  }

  /**
   * The same for what is shown exactly as it was written.
   * @param {HTMLElement} parent
   * @param {string} text
   */
  writeSource(parent, text) {
    this.#start(parent, text, false, appendUntrusted);
  }

  #start(parent, text, dressed, append) {
    const ready = !dressed || libraries.parser !== null;
    this.#texts.set(parent, text);
    parent.replaceChildren();
    this.#continue(parent, text, 0, dressed && ready ? append : appendUntrusted);
    if (!ready) this.#later(parent, text, append);
  }

  async #later(parent, text, append) {
    if (!(await loadLibraries()) || this.#texts.get(parent) !== text) return;
    parent.replaceChildren();
    this.#continue(parent, text, 0, append);
  }

  #continue(parent, text, from, append) {
    const to = wholeCharacters(text, from + AT_ONCE);
    append(parent, text.slice(from, to));
    if (to >= text.length) return;
    const more = el("button", { type: "button", class: "more" }, `Show more: ${left(text.length - to)} left`);
    more.addEventListener("click", (event) => {
      event.stopPropagation();
      more.remove();
      this.#continue(parent, text, to, append);
    });
    parent.append(more);
  }
}

function appendDressed(parent, text) {
  const nodes = markdownNodes(text, libraries.parser);
  if (nodes === null) return appendUntrusted(parent, text);
  const [first, ...others] = nodes.children;
  const only = others.length === 0 && first?.matches("p:not([class])");
  parent.append(...(only ? first : nodes).childNodes);
}

function appendFormula(parent, latex) {
  const place = el("span", { class: "formula" });
  appendUntrusted(place, latex);
  parent.append(place);
  if (!hasInvisible(latex)) showFormula(place, { latex, display: false });
}

const left = (count) => `${count.toLocaleString("en")} characters`;

/** `at`, moved so that it does not cut a character of two units in half. */
function wholeCharacters(text, at) {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before < 0xdc00 ? at + 1 : at;
}
