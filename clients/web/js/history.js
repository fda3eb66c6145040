// What was asked in this browser, if the reader wants that kept: question, settings, decision, and the answer as shown.

import { el, find, setText } from "./dom.js";
import { appendUntrusted } from "./untrusted.js";
import { count, percent } from "./words.js";

const MOST = 200;
const [STORE, SWITCH] = ["history", "history-off"];

/**
 * @typedef {Pick<Reply, "decision" | "reason" | "confidence" | "answer"> & {at: string, request: Asked}} Entry
 */

export class History {
  #list = el("ol", { class: "asked-list", role: "list" });
  #summary = el("summary", {}, "");
  #off = el("input", { type: "checkbox" });

  /**
   * `onOpen(request)` when the reader takes a question up again.
   * @param {{onOpen: (request: Asked) => void}} events
   */
  constructor({ onOpen }) {
    this.onOpen = onOpen;
    this.#off.checked = localStorage.getItem(SWITCH) === "1";
    this.#off.addEventListener("change", () => this.#switch());
    find("history").append(el("details", {}, this.#summary,
      el("p", { class: "tools" },
        el("label", {}, this.#off, " Keep nothing"),
        el("button", { type: "button", onclick: () => this.#save() }, "Save as JSON"),
        el("button", { type: "button", onclick: () => this.#write([]) }, "Forget all")),
      this.#list));
    this.#show(this.entries);
  }

  /**
   * Newest first.
   * @returns {Entry[]}
   */
  get entries() {
    try {
      return JSON.parse(localStorage.getItem(STORE) ?? "[]");
    } catch {
      return [];
    }
  }

  /**
   * Note what `request` got; of a reply that declined no answer is kept.
   * @param {Asked} request
   * @param {Reply} reply
   */
  add(request, { decision, confidence, answer, reason }) {
    if (this.#off.checked || !request.question) return;
    /** @type {Entry} */
    const entry = { at: new Date().toISOString(), request, decision, reason, confidence, answer };
    this.#write([entry, ...this.entries].slice(0, MOST));
  }

  #switch() {
    localStorage.setItem(SWITCH, this.#off.checked ? "1" : "0");
    if (this.#off.checked) this.#write([]);
  }

  /** @param {Entry[]} entries */
  #write(entries) {
    try {
      localStorage.setItem(STORE, JSON.stringify(entries));
    } catch {
      localStorage.removeItem(STORE); // Full: nothing kept is better than an answer that does not come.
    }
    this.#show(this.entries);
  }

  /** @param {Entry[]} entries */
  #show(entries) {
    setText(this.#summary, `Asked before in this browser: ${count(entries.length, "question")}`);
    find("history").hidden = entries.length === 0 && !this.#off.checked;
    this.#list.replaceChildren(...entries.map((entry) => this.#entry(entry)));
  }

  /** @param {Entry} entry */
  #entry({ request, decision, confidence, answer }) {
    const button = el("button", { type: "button", class: "again", dir: "auto", onclick: () => this.onOpen(request) });
    appendUntrusted(button, (request.question ?? "").slice(0, 200));
    const sure = confidence === null ? "" : `, ${percent(confidence)} sure`;
    const got = el("span", { class: "untrusted", dir: "auto" });
    appendUntrusted(got, decision === "answer" ? (answer ?? "answered").slice(0, 60) : "no answer");
    return el("li", {}, button, el("span", { class: "facts" }, got, sure));
  }

  #save() {
    saveFile("demur-history.json", "application/json", JSON.stringify(this.entries, null, 2));
  }
}

/**
 * Hand a text to the reader as a file.
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function saveFile(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
