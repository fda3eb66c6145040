// What the critic expected once each token stood: hope, not correctness. Only on request, and closed until it is opened.

import { el } from "./dom.js";
import { appendUntrusted } from "./untrusted.js";
import { percent } from "./words.js";

const SHOWN = 3000;
const ABOUT =
  "How likely the model’s critic found it, once each token stood, that the whole answer would be right. " +
  "It pictures hope, and never says which step is right.";

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
    this.#tokens.replaceChildren(...values.slice(0, SHOWN).map(token));
    if (values.length > SHOWN) this.#tokens.append(` … ${(values.length - SHOWN).toLocaleString("en")} more tokens`);
  }
}

/** @param {{text: string, value: number | null}} token */
function token({ text, value }) {
  const made = el("span", { class: "token", title: value === null ? "no value" : percent(value) });
  made.style.setProperty("--doubt-share", String(value === null ? 0 : 1 - value));
  appendUntrusted(made, text);
  return made;
}
