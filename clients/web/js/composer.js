// The question and how it is to be answered.

import { el, find, setText } from "./dom.js";
import { buildRequest, showOptions } from "./request.js";
import { CONTRACTS } from "./words.js";

export class Composer {
  #form = find("ask");
  #question = find("question");
  #send = find("send");
  #stop = find("stop");
  #has = { critic: false };

  /** `onAsk()` when the reader asks, `onStop()` when it is enough, `onEdit()` when the question changes. */
  constructor({ onAsk, onStop, onEdit }) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      onAsk();
    });
    this.#question.addEventListener("keydown", (event) => this.#onKey(event));
    this.#question.addEventListener("input", onEdit);
    this.#form.addEventListener("change", () => showOptions(this.#form, this.#has));
    this.#stop.addEventListener("click", onStop);
    // A browser says nothing about a wrong value that it cannot show.
    this.#form.addEventListener("invalid", () => (find("options").open = true), true);
    for (const example of find("examples").querySelectorAll("button")) {
      example.addEventListener("click", () => this.#try(example.textContent, onAsk));
    }
  }

  get question() {
    return this.#question.value.trim();
  }

  /** The request as the form has it, at the threshold `t`. */
  request(t) {
    return buildRequest(this.#form, this.question, t);
  }

  /** Offer what the served model can do; for this page claims come first. */
  offer({ id, calibrated, contracts, confidence_sources: sources }) {
    this.#has = { critic: sources.includes("critic") };
    find("model").replaceChildren(
      el("span", { class: "model-name" }, id),
      el("span", { class: calibrated ? "badge" : "badge warn" }, calibrated ? "calibrated" : "not calibrated"),
    );
    const ordered = Object.keys(CONTRACTS).filter((name) => contracts.includes(name));
    const before = new FormData(this.#form).get("contract");
    const chosen = ordered.includes(before) ? before : ordered[0];
    const legend = find("contracts").querySelector("legend");
    find("contracts").replaceChildren(legend, ...ordered.map((name) => choice(name, name === chosen)));
    showOptions(this.#form, this.#has);
  }

  /** "idle", "asking", or "waiting" for the server. */
  set state(state) {
    const pressed = [this.#send, this.#stop].includes(document.activeElement);
    this.#send.hidden = state === "asking";
    this.#stop.hidden = state !== "asking";
    this.#send.disabled = state === "waiting";
    setText(this.#send, state === "waiting" ? "Not yet" : "Ask");
    if (pressed) (state === "asking" ? this.#stop : this.#send).focus();
  }

  #try(question, onAsk) {
    this.#question.value = question;
    onAsk();
  }

  /** Enter asks, with Shift it breaks the line; in the middle of composing a character it does neither. */
  #onKey(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#form.requestSubmit();
  }
}

function choice(name, checked) {
  const words = CONTRACTS[name];
  return el("label", { class: "contract" },
    el("input", { type: "radio", name: "contract", value: name, checked }),
    el("span", { class: "contract-name" }, words.name), el("span", { class: "contract-about" }, words.about));
}
