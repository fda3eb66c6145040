// The question and how it is to be answered.

import { el, find, setText } from "./dom.js";
import { offerExamples } from "./examples.js";
import { buildRequest, fillForm, setForms, showOptions } from "./request.js";
import { offerSources } from "./sources.js";
import { formWords } from "./words.js";

export class Composer {
  #form = find("ask", HTMLFormElement);
  #question = find("question", HTMLTextAreaElement);
  #send = find("send", HTMLButtonElement);
  #stop = find("stop", HTMLButtonElement);
  #hint = find("question-hint");
  #has = { critic: false, sources: false };
  #onTry;

  /**
   * `onAsk()`, `onStop()`, `onEdit()` when the question or how it is asked changes, `onTry(example)`.
   * @param {{onAsk: () => void, onStop: () => void, onEdit: () => void, onTry: (example: Example) => void}} events
   */
  constructor({ onAsk, onStop, onEdit, onTry }) {
    this.#onTry = onTry;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#isAsked()) onAsk();
    });
    this.#question.addEventListener("keydown", (event) => this.#onKey(event));
    this.#question.addEventListener("input", () => {
      this.#tell("");
      onEdit();
    });
    this.#form.addEventListener("input", () => showOptions(this.#form, this.#has));
    this.#form.addEventListener("change", (event) => {
      if (event.target === this.#question) return; // Left with what "input" has told.
      showOptions(this.#form, this.#has);
      onEdit();
    });
    this.#stop.addEventListener("click", onStop);
    // A browser says nothing about a wrong value that it cannot show.
    this.#form.addEventListener("invalid", () => (find("options", HTMLDetailsElement).open = true), true);
  }

  get question() {
    return this.#question.value.trim();
  }

  /**
   * The request as the form has it, with `bar` for what to abstain by, for a `question` after the messages `before` it.
   * @param {Bar} bar
   * @param {string} question
   * @param {Message[]} before
   */
  request(bar, question = this.question, before = []) {
    return buildRequest(this.#form, question, bar, before);
  }

  /** Make room for another question. */
  clear() {
    this.#question.value = "";
    this.#question.focus();
  }

  /**
   * Fill the form with a request.
   * @param {Asked & {question: string}} request
   */
  fill(request) {
    this.#question.value = request.question;
    fillForm(this.#form, request);
    showOptions(this.#form, this.#has);
    this.#tell("");
  }

  /**
   * Offer what the served model can do, in its order.
   * @param {Model} model
   */
  offer({ contract_cards: cards, confidence_sources: sources, examples, calibrators }) {
    this.#has = { critic: sources.includes("critic"), sources: sources.length > 1 || calibrators.length > 0 };
    offerSources(this.#form, sources, calibrators);
    setForms(cards);
    const before = new FormData(this.#form).get("contract");
    const names = Object.keys(cards);
    const chosen = names.find((name) => name === before) ?? names[0];
    const choices = names.map((name) => choice(name, formWords(cards[name]), name === chosen));
    find("contracts").replaceChildren(find("contracts-legend"), ...choices);
    offerExamples(examples, this.#onTry);
    showOptions(this.#form, this.#has);
  }

  /**
   * Where it stands; "waiting" is for the server.
   * @param {"idle" | "asking" | "waiting"} state
   */
  set state(state) {
    const pressed = [this.#send, this.#stop].some((button) => button === document.activeElement);
    this.#send.hidden = state === "asking";
    this.#stop.hidden = state !== "asking";
    this.#send.disabled = state === "waiting";
    setText(this.#send, state === "waiting" ? "Not yet" : "Ask");
    for (const example of find("examples").querySelectorAll("button")) {
      example.setAttribute("aria-disabled", String(state === "asking"));
    }
    if (pressed) (state === "asking" ? this.#stop : this.#send).focus();
  }

  /** Whether there is a question; where there is none it is asked for. */
  #isAsked() {
    this.#tell(this.question ? "" : "Write a question first.");
    if (!this.question) this.#question.focus();
    return Boolean(this.question);
  }

  /** @param {string} hint */
  #tell(hint) {
    setText(this.#hint, hint);
    this.#question.setAttribute("aria-invalid", String(Boolean(hint)));
  }

  /**
   * Enter asks, with Shift it breaks the line; in the middle of composing a character it does neither.
   * @param {KeyboardEvent} event
   */
  #onKey(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#form.requestSubmit();
  }
}

/**
 * @param {string} name
 * @param {{name: string, about: string}} words
 * @param {boolean} checked
 */
function choice(name, words, checked) {
  return el("label", { class: "contract" },
    el("input", { type: "radio", name: "contract", value: name, checked }),
    el("span", { class: "contract-name" }, words.name), el("span", { class: "contract-about" }, words.about));
}
