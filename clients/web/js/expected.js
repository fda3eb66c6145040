// What the critic expected once each token stood: hope, not correctness. Only on request, and closed until it is opened.

import { el } from "./dom.js";
import { appendUntrusted } from "./untrusted.js";
import { percent } from "./words.js";

const SHOWN = 3000;
const OVER = 4;
const ABOUT =
  "How likely the model’s critic found it, once each token stood, that the whole answer would be right, as the mean over " +
  "the last four tokens: what it says at a single one jumps. It pictures hope, and never says which step is right.";

export class Expected {
  /** @type {Reply["token_values"]} */
  #values = null;
  #tokens = el("div", { class: "code untrusted", tabindex: "0", role: "region", "aria-label": "Tokens" });

  constructor() {
    this.element = el("details", { class: "expected" },
      el("summary", {}, "What the critic expected, token by token"), el("p", { class: "because" }, ABOUT), this.#tokens);
    this.element.addEventListener("toggle", () => this.#show());
  }

  /**
   * `covered`: what they spell is below the threshold.
   * @param {{values: Reply["token_values"], covered: boolean}} tokens
   */
  set({ values, covered }) {
    this.element.hidden = !values;
    if (covered || values !== this.#values) this.element.open = false;
    this.#values = values ?? null;
    this.#show();
  }

  #show() {
    const values = this.element.open && this.#values ? this.#values : [];
    this.#tokens.replaceChildren(...values.slice(0, SHOWN).map(({ text }, at) => token(text, smoothed(values, at))));
    if (values.length > SHOWN) this.#tokens.append(` … ${(values.length - SHOWN).toLocaleString("en")} more tokens`);
  }
}

/**
 * The mean of the values up to a token, OVER of them at most; null where it has none.
 * @param {NonNullable<Reply["token_values"]>} values
 * @param {number} at
 */
function smoothed(values, at) {
  if (values[at].value === null) return null;
  const known = values.slice(Math.max(0, at + 1 - OVER), at + 1).flatMap(({ value }) => (value === null ? [] : [value]));
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

/**
 * @param {string} text
 * @param {number | null} value
 */
function token(text, value) {
  const made = el("span", { class: "token", title: value === null ? "no value" : percent(value) });
  made.style.setProperty("--doubt-share", String(value === null ? 0 : 1 - value));
  appendUntrusted(made, text);
  return made;
}
