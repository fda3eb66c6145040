// A file of questions, asked one after the other with the settings of the form, and a table of what came.

import { el, find, setText } from "./dom.js";
import { saveFile } from "./history.js";
import { csvField, questionsIn } from "./questions.js";
import { Run } from "./run.js";
import { appendUntrusted } from "./untrusted.js";
import { count, failureWords, percent } from "./words.js";

const COLUMNS = ["question", "decision", "reason", "confidence", "risk_threshold", "answer", "error"];
const SHOWN = 300;

/** @typedef {Partial<Reply> & {question: string, error?: string}} Asking */

export class Batch {
  #file = el("input", { type: "file", id: "batch-file", accept: ".txt,.csv,.jsonl,.json" });
  #progress = el("progress", { max: 1, value: 0, "aria-label": "Questions asked", hidden: true });
  #note = el("p", { class: "because", role: "status" });
  #stop = el("button", { type: "button", hidden: true }, "Stop");
  #save = el("button", { type: "button", hidden: true }, "Save as CSV");
  #body = el("tbody");
  #table = el("table", { class: "batch-table", hidden: true },
    el("thead", {}, el("tr", {}, ...["Question", "Sure", "Answer"].map((name) => el("th", { scope: "col" }, name)))), this.#body);
  /** @type {Asking[]} */
  #rows = [];
  /** @type {Run | null} */
  #run = null;
  #stopped = false;

  /**
   * `requestFor(question)` is the form's request, null while none can be asked.
   * @param {{requestFor: (question: string) => Asked | null}} events
   */
  constructor({ requestFor }) {
    this.requestFor = requestFor;
    this.#file.addEventListener("change", () => this.#start());
    this.#stop.addEventListener("click", () => this.#halt());
    this.#save.addEventListener("click", () => saveFile("demur-answers.csv", "text/csv", this.#csv()));
    find("batch").append(el("details", {}, el("summary", {}, "Ask a file of questions"),
      el("p", { class: "because" },
        "One question a line, a CSV with a column “question”, or JSON lines. They are asked one by one, as the form says."),
      el("p", { class: "tools" }, el("label", { for: "batch-file", class: "quiet" }, "File of questions"),
        this.#file, this.#progress, this.#stop, this.#save),
      this.#note, el("div", { class: "batch-scroll", tabindex: "0", role: "region", "aria-label": "Answers" }, this.#table)));
  }

  async #start() {
    const file = this.#file.files?.[0];
    if (!file || this.#run) return;
    this.#file.disabled = true;
    try {
      await this.#askAll(questionsIn(file.name, await file.text()));
    } catch (error) {
      setText(this.#note, error instanceof Error ? error.message : String(error));
    }
    Object.assign(this.#file, { disabled: false, value: "" });
    this.#progress.hidden = this.#stop.hidden = true;
  }

  /** @param {string[]} questions */
  async #askAll(questions) {
    this.#rows = [];
    this.#stopped = false;
    this.#body.replaceChildren();
    this.#progress.max = questions.length;
    this.#progress.hidden = this.#stop.hidden = this.#table.hidden = this.#save.hidden = false;
    for (const question of questions) {
      if (this.#stopped) break;
      this.#add(await this.#ask(question));
      this.#progress.value = this.#rows.length;
      setText(this.#note, this.#summary(questions.length));
    }
  }

  /**
   * @param {string} question
   * @returns {Promise<Asking>}
   */
  async #ask(question) {
    const request = this.requestFor(question);
    if (!request) throw new Error("The server is not ready.");
    const run = (this.#run = new Run(request, () => {}));
    await run.start();
    this.#run = null;
    if (!run.hasReply()) return { question, error: run.failure ? failureWords(run.failure, false).text : "" };
    const { decision, reason, confidence, risk_threshold, answer } = run.reply;
    return { question, decision, reason, confidence, risk_threshold, answer };
  }

  #halt() {
    this.#stopped = true;
    this.#run?.stop();
  }

  /** @param {Asking} row */
  #add(row) {
    this.#rows.push(row);
    if (this.#rows.length > SHOWN) return;
    const said = row.error ?? (row.decision === "answer" ? row.answer ?? "" : "no answer");
    this.#body.append(el("tr", {}, cell(row.question), el("td", {}, sureness(row)), cell(said)));
  }

  #summary(all) {
    const answered = this.#rows.filter((row) => row.decision === "answer").length;
    const more = this.#rows.length > SHOWN ? ` The first ${SHOWN} are shown, all are saved.` : "";
    return `${this.#rows.length} of ${count(all, "question")} asked, ${answered} answered.${more}`;
  }

  #csv() {
    return [COLUMNS, ...this.#rows.map((row) => COLUMNS.map((name) => row[name]))]
      .map((fields) => fields.map(csvField).join(",")).join("\r\n") + "\r\n";
  }
}

/** @param {Asking} row */
const sureness = ({ confidence }) => (typeof confidence === "number" ? percent(confidence) : "");

/** @param {string} text */
function cell(text) {
  const made = el("td", { class: "untrusted", dir: "auto" });
  appendUntrusted(made, text.slice(0, 500));
  return made;
}
