// The same question for programs: the reply as JSON, the request as curl and as Python.

import { key } from "./api.js";
import { copyText } from "./copy.js";
import { el } from "./dom.js";
import { escapeInvisible } from "./untrusted.js";

const SHOWN = 5000;

export class Program {
  #code = el("pre", { class: "code", tabindex: "0", "aria-label": "Code" });
  #copied = el("span", { class: "copied", role: "status" });
  /** @type {Record<string, () => string>} */
  #texts = {};
  #kind = "json";

  constructor() {
    const forms = [["json", "JSON"], ["curl", "curl"], ["python", "Python"]];
    const tabs = forms.map(([kind, name]) => this.#tab(kind, name));
    const copy = el("button", { type: "button", onclick: () => this.#copy() }, "Copy");
    this.element = el("details", { class: "program" },
      el("summary", {}, "Copy as JSON, curl or Python"),
      el("fieldset", { class: "tabs" }, el("legend", { class: "quiet" }, "Form"), ...tabs, copy, this.#copied),
      this.#code);
    this.element.addEventListener("toggle", () => this.#show());
  }

  /**
   * `reply` is the reply that `request` would get: what only this page asked for is taken out of it.
   * @param {{request: Asked, reply: Reply}} both
   */
  set({ request, reply }) {
    this.#texts = {
      json: () => escapeInvisible(JSON.stringify(asAsked(reply), null, 2), jsonEscape),
      curl: () => curl(request),
      python: () => python(request),
    };
    this.#copied.textContent = "";
    this.#show();
  }

  #tab(kind, name) {
    const choose = () => {
      this.#kind = kind;
      this.#copied.textContent = "";
      this.#show();
    };
    const radio = el("input", { type: "radio", name: "form", value: kind, checked: kind === "json", onchange: choose });
    return el("label", {}, radio, name);
  }

  #show() {
    if (!this.element.open || !this.#texts[this.#kind]) return;
    const text = this.#texts[this.#kind]();
    const left = text.length - SHOWN;
    const rest = left > 0 ? `\n… ${left.toLocaleString("en")} more characters are copied` : "";
    this.#code.replaceChildren(text.slice(0, SHOWN), rest);
  }

  /** Where the browser keeps the clipboard from a page, the text is selected for the reader to copy. */
  async #copy() {
    const text = this.#texts[this.#kind]();
    const done = await copyText(text, this.#code);
    if (!done) this.#code.replaceChildren(text);
    if (!done) getSelection()?.selectAllChildren(this.#code);
    this.#copied.textContent = done ? "Copied" : "Selected: copy it with your keyboard";
  }
}

/**
 * What a caller who asks for no withheld text and no raw output gets.
 * @param {Reply} reply
 */
function asAsked(reply) {
  const shown = (/** @type {Group} */ group) => (reply.decision === "answer" && group.chosen ? group : { ...group, answer: null });
  const samples = reply.samples && { ...reply.samples, groups: reply.samples.groups.map(shown) };
  const kept = reply.decision === "answer" ? {} : { token_values: undefined };
  return { ...reply, withheld: null, raw: null, samples, ...kept };
}

/** @param {Asked} request */
function curl(request) {
  const body = escapeInvisible(JSON.stringify(request), jsonEscape);
  const url = new URL("v1/answers", document.baseURI);
  // The client for Python reads the same variable. The key itself is in no text that is meant to be passed on.
  const shown = key.get() ? ` \\\n  -H "authorization: Bearer $DEMUR_API_KEY"` : "";
  return `curl -sS ${quoted(url.href)} \\\n  -H 'content-type: application/json'${shown} \\\n  -d ${quoted(body)}`;
}

/**
 * One word for a shell.
 * @param {string} text
 */
const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** @param {Asked} request */
function python({ question, messages, ...options }) {
  const lines = Object.entries(options).map(([name, value]) => `        ${name}=${literal(value)},\n`);
  const asked = messages ? list(messages) : literal(question);
  const url = literal(new URL(".", document.baseURI).href.replace(/\/$/, ""));
  return (
    "from demur_client import Client\n\n" +
    `with Client(base_url=${url}) as client:\n` +
    `    answer = client.answer(\n        ${asked},\n${lines.join("")}    )\nprint(answer)\n`
  );
}

/** @param {Message[]} messages */
const list = (messages) => `[${messages.map(({ role, content }) => (
  `{"role": ${literal(role)}, "content": ${literal(content)}}`
)).join(", ")}]`;

/** @type {Record<string, string>} */
const ESCAPES = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * A string or number as Python writes it.
 * @param {unknown} value
 */
function literal(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "string") return String(value);
  const escaped = value.replace(/[\\"]/g, "\\$&").replace(/[\n\r\t]/g, (char) => ESCAPES[char]);
  return `"${escapeInvisible(escaped, pythonEscape)}"`;
}

const hex = (number, digits) => number.toString(16).padStart(digits, "0");

/** JSON escapes UTF-16 units. */
const jsonEscape = (char) => char.split("").map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`).join("");

const pythonEscape = (char) => `\\U${hex(char.codePointAt(0), 8)}`;
