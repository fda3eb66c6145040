// Is the server there, and has it loaded its model: asked until it is, and again when an answer was lost.

import { readiness, servedModel } from "./api.js";
import { el } from "./dom.js";

const PAUSE = 1500;

const WORDS = {
  loading: ["The model is loading", "It can take some minutes. You can ask as soon as it is ready."],
  unreachable: ["The server cannot be reached", "Trying again until it answers."],
};

export class Server {
  model = null;
  #asking = false;

  /** `notice` shows what is waited for; `onReady(model)` when it is there; `onState(title)` after each look. */
  constructor({ notice, onReady, onState }) {
    Object.assign(this, { notice, onReady, onState });
  }

  get isReady() {
    return this.model !== null;
  }

  /** Ask until it is ready. */
  async watch() {
    if (this.#asking) return;
    this.#asking = true;
    for (let found = await this.#look(); found.state !== "ready"; found = await this.#look()) {
      this.model = null;
      this.#show(found);
      await new Promise((done) => setTimeout(done, PAUSE));
    }
    this.#asking = false;
    this.notice.hidden = true;
    this.onState(null);
    this.onReady(this.model);
  }

  async #look() {
    const found = await readiness();
    if (found.state !== "ready") return found;
    try {
      this.model = await servedModel();
      return found;
    } catch {
      return { state: "unreachable" };
    }
  }

  #show({ state, message }) {
    const [title, text] = WORDS[state];
    this.notice.hidden = false;
    this.notice.replaceChildren(el("h2", {}, title), el("p", {}, message ? `The server says: ${message}.` : text));
    this.onState(title);
  }
}
