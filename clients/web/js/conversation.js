// Follow-up questions: what was asked and answered before goes along.

import { el } from "./dom.js";
import { questionOf } from "./request.js";
import { appendUntrusted } from "./untrusted.js";

export class Conversation {
  #place;

  /**
   * `place` says what the next question follows.
   * @param {HTMLElement} place
   */
  constructor(place) {
    this.#place = place;
    this.clear();
  }

  /** Forget it: the next question stands alone. */
  clear() {
    /** @type {Message[]} */
    this.messages = [];
    this.#place.hidden = true;
  }

  /**
   * Go on from the answer `shown` to `request`.
   * @param {Asked} request
   * @param {Reply} shown
   */
  extend(request, shown) {
    /** @type {Message[]} */
    const before = request.messages ?? [{ role: "user", content: questionOf(request) }];
    const said = [shown.text, shown.answer].filter(Boolean).join("\n");
    this.messages = [...before, { role: "assistant", content: said }];
    const about = el("span", { class: "untrusted", dir: "auto" });
    appendUntrusted(about, questionOf(request).slice(0, 120));
    const alone = el("button", { type: "button", onclick: () => this.clear() }, "Start anew");
    this.#place.replaceChildren(el("span", {}, "Follows: "), about, " ", alone);
    this.#place.hidden = false;
  }
}
