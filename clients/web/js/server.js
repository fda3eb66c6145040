// Is the server there, has it loaded its model, and does it want a key: asked until all is well, and again when an
// answer was lost.

import { Failure, key, readiness, servedModel } from "./api.js";
import { el } from "./dom.js";

const PAUSE = 1500;

/** @satisfies {Record<string, [string, string]>} */
const WORDS = {
  loading: ["The model is loading", "It can take some minutes. You can ask as soon as it is ready."],
  locked: ["A key is needed", "This server answers callers who have a key. Yours stays in this tab until you close it."],
  unreachable: ["The server cannot be reached", "Trying again until it answers."],
};

export class Server {
  /** @type {Model | null} */
  model = null;
  /** How often it was found ready. */
  seen = 0;
  #asking = false;

  /**
   * `notice` shows what is waited for; `onReady(model)` when it is there; `onState(title)` after each look.
   * @param {{notice: HTMLElement, onReady: (model: Model) => void, onState: (title: string | null) => void}} parts
   */
  constructor({ notice, onReady, onState }) {
    this.notice = notice;
    this.onReady = onReady;
    this.onState = onState;
  }

  get isReady() {
    return this.model !== null;
  }

  /** Ask until it is ready. */
  async watch() {
    if (this.#asking) return;
    this.#asking = true;
    let found = await this.#look();
    for (; found.state !== "ready"; found = await this.#look()) {
      this.model = null;
      this.#show(found);
      await (found.state === "locked" ? this.#unlock() : new Promise((done) => setTimeout(done, PAUSE)));
    }
    this.#asking = false;
    this.notice.hidden = true;
    this.model = found.model;
    this.onState(null);
    this.seen += 1;
    this.onReady(found.model);
  }

  /** @returns {Promise<{state: "ready", model: Model} | {state: keyof typeof WORDS, message?: string}>} */
  async #look() {
    const { state, message } = await readiness();
    if (state !== "ready") return { state, message };
    try {
      return { state, model: await servedModel() };
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 401) return { state: "unreachable" };
      return { state: "locked", message: key.get() && error.message };
    }
  }

  /** Ask for a key, and take it. */
  #unlock() {
    const field = el("input", { type: "password", id: "key", autocomplete: "off", required: true, pattern: "[!-~]+" });
    return new Promise((done) => {
      const take = (/** @type {Event} */ event) => {
        event.preventDefault();
        key.set(field.value.trim());
        done(null);
      };
      this.notice.append(el("form", { class: "key", onsubmit: take },
        el("label", { for: "key" }, "Key"), field, el("button", { type: "submit" }, "Use this key")));
    });
  }

  /** @param {{state: keyof typeof WORDS, message?: string}} found */
  #show({ state, message }) {
    const [title, text] = WORDS[state];
    this.notice.hidden = false;
    this.notice.replaceChildren(el("h2", {}, title), el("p", {}, message ? `The server says: ${message}.` : text));
    this.onState(title);
  }
}
