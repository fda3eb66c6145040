// One step: its confidence, its text, and behind them the reason for the doubt.

import { copyButton } from "./copy.js";
import { isBelow } from "./decide.js";
import { el } from "./dom.js";
import { percent, problemsOf } from "./words.js";

let made = 0;

export class Row {
  #confidence;
  /** @type {boolean | null} */
  #below = null;
  /** @type {boolean | null} */
  #chosen = null;

  /**
   * @param {Claim} claim
   * @param {number} t
   * @param {string} text
   */
  constructor(claim, t, text) {
    const reasonId = `reason-${++made}`;
    this.#confidence = claim.confidence;
    this.text = textBox();
    this.why = el("div", { class: "why untrusted", dir: "auto" });
    this.button = el(
      "button",
      { type: "button", class: "sure", "aria-controls": reasonId },
      el("span", { class: "mark", "aria-hidden": "true" }),
      el("span", { class: "number" }, claim.confidence === null ? "none" : percent(claim.confidence)),
      el("span", { class: "quiet" }, claim.confidence === null ? " no confidence" : " sure"),
      el("span", { class: "quiet below" }, "below your threshold"),
    );
    const problems = problemsOf(claim).map((problem) => el("p", { class: "problem" }, problem));
    const reason = el("div", { class: "reason", id: reasonId }, el("span", { class: "quiet" }, "Reason: "), this.why);
    reason.append(...problems, copyButton("Copy step", () => text, () => this.text));
    this.element = el("li", { class: "step" }, this.button, this.text, reason);
    this.element.style.setProperty("--doubt-share", String(1 - (claim.confidence ?? 0)));
    this.update(t);
  }

  /**
   * The reason of a doubted step is open unless the reader closed it.
   * @param {number} t
   */
  update(t) {
    const below = isBelow(this.#confidence, t);
    if (below === this.#below) return;
    this.#below = below;
    this.#chosen = null;
    this.element.classList.toggle("doubted", below);
    this.#show();
  }

  toggle() {
    this.#chosen = !this.#isOpen;
    this.#show();
  }

  get #isOpen() {
    return this.#chosen ?? this.#below ?? false;
  }

  #show() {
    this.element.classList.toggle("open", this.#isOpen);
    this.button.setAttribute("aria-expanded", String(this.#isOpen));
  }
}

export const textBox = () => el("div", { class: "text untrusted", dir: "auto" });
