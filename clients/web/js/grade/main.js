// The grading page: takes an item, shows it, sends what is said of it. How far it went is shown, never what it comes to.

import { key } from "../api.js";
import { el, find, setText } from "../dom.js";
import { far, release, say, take } from "./queue.js";
import { ItemView } from "./view.js";

/** @type {Record<number, [string, string | null]>} */
const WORDS = {
  401: ["A key is needed", "Grading needs a key with the right to grade. Yours stays in this tab until you close it."],
  403: ["This key may not grade", null],
  404: ["Nothing is kept here", null],
};
/** @type {[string, string]} */
const DONE = ["Nothing is left to grade", "What is drawn from the answers to come appears here."];

class Page {
  #view = new ItemView();
  /** @type {Item | null} */
  #item = null;
  /** @type {{item: Item, claim: number | null}[]} */
  #done = [];
  #busy = false;

  start() {
    const verdicts = {
      right: () => this.#grade(true),
      wrong: () => this.#grade(false),
      undo: () => this.#undo(),
      later: () => this.#skip("later"),
      never: () => this.#skip("for_good"),
    };
    for (const [id, act] of Object.entries(verdicts)) find(id).addEventListener("click", () => this.#alone(act));
    /** @type {Record<string, () => unknown>} */
    const keys = { 1: verdicts.right, 0: verdicts.wrong, s: verdicts.later, S: verdicts.never, u: verdicts.undo };
    keys.j = () => this.#view.move(1);
    keys.k = () => this.#view.move(-1);
    document.addEventListener("keydown", (event) => this.#pressed(event, keys[event.key]));
    find("queues").addEventListener("change", () => this.#alone(() => this.#switch()));
    addEventListener("pagehide", () => this.#item && release(this.#item));
    this.#alone(() => this.#next());
  }

  #pressed(event, act) {
    const typing = event.target.matches("input:not([type=radio]), textarea");
    if (!act || typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    event.preventDefault();
    this.#alone(act);
  }

  /**
   * One thing at a time: what is pressed meanwhile was meant for what is on the screen no more.
   * @param {() => unknown} act
   */
  async #alone(act) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      await act();
    } catch (error) {
      this.#refused(error);
    } finally {
      this.#busy = false;
    }
  }

  async #next() {
    const { item, progress } = await take(this.#queue);
    this.#far(progress);
    if (item === null) return this.#empty(DONE);
    this.#show(item);
  }

  /** @param {Item} item */
  #show(item) {
    this.#item = item;
    find("notice").hidden = true;
    find("undo", HTMLButtonElement).disabled = this.#done.length === 0;
    this.#view.show(item);
    scrollTo(0, 0);
    find("title").focus();
    setText(find("spoken"), `${item.messages.at(-1)?.content}. The answer: ${item.answer ?? "none"}`);
  }

  async #grade(correct) {
    if (this.#item === null) return;
    const { claim } = this.#view;
    await say(this.#item, claim === null ? { correct } : { correct, claim });
    this.#done.push({ item: this.#item, claim });
    find("undo", HTMLButtonElement).disabled = false;
    if (claim === null) return this.#next();
    this.#view.mark(claim, correct);
    if (!this.#view.move(1)) this.#view.move(-claim - 1);
  }

  async #skip(skip) {
    if (this.#item === null) return;
    await say(this.#item, { skip });
    if (skip === "for_good") this.#done.push({ item: this.#item, claim: null });
    await this.#next();
  }

  /** Take back the last verdict: on a step of this item, or on an item before, which comes back. */
  async #undo() {
    const last = this.#done.at(-1);
    if (last === undefined) return;
    await say(last.item, last.claim === null ? { correct: null } : { correct: null, claim: last.claim });
    this.#done.pop();
    if (last.claim !== null && last.item === this.#item) return this.#unmark(last.claim);
    if (last.claim !== null) return this.#undo();
    if (this.#item !== null) await say(this.#item, { skip: "release" });
    const { progress } = await far(this.#queue);
    this.#far(progress);
    this.#show(last.item);
  }

  #unmark(claim) {
    this.#view.mark(claim, null);
    this.#view.choose(claim + 1);
    find("undo", HTMLButtonElement).disabled = this.#done.length === 0;
  }

  async #switch() {
    if (this.#item !== null) await say(this.#item, { skip: "release" });
    this.#done = [];
    await this.#next();
  }

  get #queue() {
    return document.querySelector(/** @type {"input"} */ ("input[name=queue]:checked"))?.value ?? "";
  }

  #far({ graded, planned, open }) {
    const whole = planned ?? graded + open;
    const bar = el("progress", { max: Math.max(whole, 1), value: Math.min(graded, whole), "aria-label": "Graded" });
    find("far").replaceChildren(`graded ${graded} of ${whole}`, bar);
  }

  #empty([title, text]) {
    this.#item = null;
    this.#view.hide();
    find("notice").replaceChildren(el("h2", {}, title), el("p", {}, text));
    find("notice").hidden = false;
    if (this.#done.length > 0) {
      find("verdicts").hidden = false;
      find("undo", HTMLButtonElement).disabled = false;
    }
  }

  async #refused(error) {
    const [title, text] = WORDS[error.status] ?? ["That did not work", null];
    if (error.status in WORDS) this.#empty([title, text ?? `The server says: ${error.message}.`]);
    else find("notice").replaceChildren(el("h2", {}, title), el("p", {}, error.message));
    find("notice").hidden = false;
    if (error.status === 409) await this.#next();
    if (error.status === 401 || error.status === 403) this.#unlock();
  }

  #unlock() {
    const field = el("input", { type: "password", id: "key", autocomplete: "off", required: true, pattern: "[!-~]+" });
    const use = (event) => {
      event.preventDefault();
      key.set(field.value.trim());
      this.#alone(() => this.#next());
    };
    find("notice").append(el("form", { onsubmit: use },
      el("label", { for: "key" }, "Key"), field, el("button", { type: "submit" }, "Use this key")));
    field.focus();
  }
}

new Page().start();
