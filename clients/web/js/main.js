// The page: a form, a slider, and below them the answer. This file connects them.

import { AnswerView } from "./answer.js";
import { Asking } from "./asking.js";
import { Batch } from "./batch.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { find, setText } from "./dom.js";
import { showExample } from "./example.js";
import { History } from "./history.js";
import { Prose } from "./prose.js";
import { Reading } from "./reading.js";
import { questionOf } from "./request.js";
import { Ruler } from "./ruler.js";
import { Run } from "./run.js";
import { Server } from "./server.js";
import { showTrust } from "./trust.js";
import { setMeasured } from "./unchecked.js";
import { current } from "./visits.js";

class Page {
  #prose = new Prose();
  #conversation = new Conversation(find("following"));
  #ruler = new Ruler({ onMove: () => this.#moved(), askAgain: (t) => this.#asking.again(t) });
  #composer = new Composer({
    onAsk: () => {
      document.body.classList.remove("touring");
      this.#ask();
    },
    onStop: () => this.#reading.run?.stop(),
    onEdit: () => this.#reading.edit(),
    onTry: (example) => this.#try(example),
  });
  #server = new Server({
    notice: find("notice"),
    onReady: (model) => this.#ready(model),
    onState: (title) => this.#serverState(title),
  });
  #history = new History({ onOpen: (request) => this.#take(request) });
  #reading = new Reading({
    ruler: this.#ruler,
    composer: this.#composer,
    server: this.#server,
    answer: new AnswerView(find("result"), this.#prose, {
      moveTo: (t) => this.#moveTo(t),
      askAgain: (t) => this.#asking.again(t),
      followUp: (shown) => this.#followUp(shown),
    }),
    example: showExample(find("result"), this.#prose, this.#ruler, (t) => this.#moveTo(t)),
  });
  #asking = new Asking({
    reading: this.#reading,
    composer: this.#composer,
    server: this.#server,
    announce: (text) => this.#announce(text),
    onDone: (request, shown) => this.#history.add(request, shown),
  });
  #touched = false;

  start() {
    new Batch({ requestFor: (question) => (this.#server.isReady ? this.#composer.request(this.#reading.bar, question) : null) });
    addEventListener("popstate", () => this.#visit());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.#stop());
    this.#server.watch();
    this.#reading.move();
  }

  /** @param {Model} model */
  #ready(model) {
    this.#composer.offer(model);
    setMeasured(model.measured);
    showTrust(model);
    if (!this.#touched && this.#reading.run === null) this.#ruler.t = model.risk_threshold;
    if (this.#server.seen === 1) this.#visit();
    this.#reading.edit();
  }

  /** What the browser's history has here: an answer of this tab, or a question from a link, which waits to be asked. */
  #visit() {
    this.#stop();
    const { run, request } = current();
    if (!run?.reply) return request && this.#take(request);
    this.#take(run.request);
    this.#asking.revive(Run.ended(run));
  }

  #stop() {
    if (this.#reading.isAsking) this.#reading.run?.stop();
  }

  /**
   * Put a request into the form; it is not asked.
   * @param {Asked} request
   */
  #take(request) {
    this.#conversation.clear();
    this.#composer.fill({ ...request, question: questionOf(request) });
    this.#reading.take(request);
  }

  /** @param {Example} example */
  #try({ question, contract, granularity, risk_threshold }) {
    if (this.#reading.isAsking) return;
    document.body.classList.add("touring"); // The other examples stay in view.
    this.#take({ question, risk_threshold, ...(contract && { contract }), ...(granularity && { granularity }) });
    this.#ask();
  }

  /** @param {Reply} shown */
  #followUp(shown) {
    if (this.#reading.run === null) return;
    this.#conversation.extend(this.#reading.run.request, shown);
    this.#composer.clear();
  }

  /**
   * `title` says what the server is waited for, null when it is ready.
   * @param {string | null} title
   */
  #serverState(title) {
    if (this.#reading.isAsking) return;
    this.#composer.state = title === null ? "idle" : "waiting";
    if (title) this.#announce(title);
  }

  #ask() {
    const { question } = this.#composer;
    if (!this.#server.isReady || !question || this.#reading.isAsking) return;
    this.#asking.begin(this.#composer.request(this.#reading.bar, question, this.#conversation.messages));
  }

  /** @param {number} t */
  #moveTo(t) {
    this.#ruler.t = t;
    this.#ruler.focus();
    this.#moved();
  }

  #moved() {
    this.#touched = true;
    this.#reading.leave();
  }

  /** @param {string} text */
  #announce(text) {
    setText(find("announcer"), text);
  }
}

new Page().start();
