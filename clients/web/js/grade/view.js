// An item on the screen. Everything in it is text of strangers and models, and goes in as text.

import { el, find, setText } from "../dom.js";
import { appendUntrusted } from "../untrusted.js";

const SAID = { true: "right", false: "wrong" };

export class ItemView {
  #claims = [];
  #chosen = 0;

  /** What the next verdict is about: null for the whole answer, else the number of a step. */
  get claim() {
    return this.#chosen === 0 ? null : this.#chosen - 1;
  }

  show(item) {
    fill(find("messages"), item.messages.map(message));
    untrusted(find("answer"), item.answer ?? "no answer could be read");
    find("known").hidden = item.gold === null;
    untrusted(find("gold"), item.gold ?? "");
    untrusted(find("text"), item.text);
    find("reasoning").hidden = item.text === "" || item.claims.length > 0;
    find("steps").hidden = item.claims.length === 0;
    find("hint").hidden = item.claims.length === 0;
    this.#claims = item.claims.map((claim, i) => this.#step(claim, i));
    fill(find("claims"), this.#claims);
    this.choose(item.granularity === "claims" && item.claims.length > 0 ? 1 : 0);
    for (const id of ["item", "verdicts"]) find(id).hidden = false;
  }

  hide() {
    for (const id of ["item", "verdicts", "hint"]) find(id).hidden = true;
  }

  /** Move by so many places among the answer and its steps; whether there was somewhere to go. */
  move(by) {
    const to = this.#chosen + by;
    if (to < 0 || to > this.#claims.length) return false;
    this.choose(to);
    this.#places[to].focus();
    return true;
  }

  choose(place) {
    this.#chosen = place;
    this.#places.forEach((one, i) => {
      one.classList.toggle("chosen", i === place);
      one.toggleAttribute("aria-current", i === place);
    });
  }

  /** Show what was said of a step: true, false, or null for nothing. */
  mark(claim, correct) {
    setText(this.#claims[claim].querySelector(".said"), SAID[correct] ?? "");
  }

  get #places() {
    return [find("whole"), ...this.#claims];
  }

  #step(claim, i) {
    const text = el("p", { class: "untrusted" });
    appendUntrusted(text, claim.text);
    return el("li", { tabindex: "-1", onclick: () => this.choose(i + 1) }, text, el("p", { class: "said" }));
  }
}

function message({ role, content }) {
  const shown = el("p", { class: "message untrusted", "data-role": role });
  appendUntrusted(shown, content);
  return shown;
}

function untrusted(parent, text) {
  parent.replaceChildren();
  appendUntrusted(parent, text);
}

const fill = (parent, children) => parent.replaceChildren(...children);
