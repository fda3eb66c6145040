// The page: a form, a slider, and below them the answer. This file connects them and holds what they share.

import { AnswerView } from "./answer.js";
import { Composer } from "./composer.js";
import { isBelow, lowest } from "./decide.js";
import { find, oncePerFrame, setText } from "./dom.js";
import { showExample } from "./example.js";
import { loadLibraries } from "./libraries.js";
import { Prose } from "./prose.js";
import { retryButton } from "./retry.js";
import { Ruler } from "./ruler.js";
import { Run } from "./run.js";
import { Server } from "./server.js";
import { count, failureWords, headline, spoken } from "./words.js";

const WITHHELD = "This server keeps withheld text to itself, so this answer can only be held to more.";

class Page {
  #prose = new Prose();
  #ruler = new Ruler({ onMove: () => this.#moved(), askAgain: (t) => this.#askAgain(t) });
  #composer = new Composer({ onAsk: () => this.#ask(), onStop: () => this.#run.stop(), onEdit: () => this.#edited() });
  #answer = new AnswerView(find("result"), this.#prose, {
    moveTo: (t) => this.#moveTo(t),
    askAgain: (t) => this.#askAgain(t),
  });
  #server = new Server({
    notice: find("notice"),
    onReady: (model) => this.#ready(model),
    onState: (title) => this.#serverState(title),
  });
  #example = showExample(find("result"), this.#prose, this.#ruler);
  #draw = oncePerFrame(() => this.#progress());
  #run = null;
  #touched = false;

  start() {
    this.#server.watch();
    this.#moved();
    this.#touched = false;
  }

  #ready(model) {
    this.#composer.offer(model);
    if (!this.#touched && this.#run === null) {
      this.#ruler.t = model.risk_threshold;
      this.#example.move(this.#ruler.t);
    }
  }

  /** `title` says what the server is waited for, null when it is ready. */
  #serverState(title) {
    if (this.#run && !this.#run.isDone) return;
    this.#composer.state = title === null ? "idle" : "waiting";
    if (title) this.#announce(title);
  }

  #ask() {
    if (this.#server.isReady && this.#composer.question && (this.#run?.isDone ?? true)) {
      this.#begin(this.#composer.request(this.#ruler.t));
    }
  }

  #askAgain(t) {
    if (!this.#run?.isDone) return;
    this.#ruler.lock(0);
    this.#ruler.t = t;
    this.#begin({ ...this.#run.request, risk_threshold: t });
    this.#ruler.focus();
  }

  #begin(request) {
    const run = new Run(request, () => (run.isDone ? this.#end(run) : this.#draw()));
    this.#run = run;
    this.#ruler.lock(0);
    this.#ruler.mark([], null);
    this.#ruler.describe("");
    this.#answer.begin();
    document.body.classList.add("asked");
    find("title").classList.add("quiet");
    this.#composer.state = "asking";
    this.#announce("Asking.");
    this.#progress();
    loadLibraries();
    run.start();
  }

  #progress() {
    if (!this.#run || this.#run.isDone) return;
    this.#answer.progress(this.#run, this.#ruler.t);
    const { segments } = this.#run.folded;
    if (segments.length > 0) this.#ruler.mark(segments.filter((s) => s.claim).map((s) => s.claim.confidence), null);
  }

  #end(run) {
    this.#composer.state = "idle";
    if (run.failure) return this.#failed(run);
    this.#lock();
    this.#announce(spoken(this.#show()));
  }

  #failed(run) {
    const words = failureWords(run.failure, run.folded.segments.length > 0 || run.folded.tail !== "");
    this.#answer.progress(run, this.#ruler.t);
    this.#answer.fail(run, words, retryButton(run.failure.retryAfter, () => this.#askAgain(this.#ruler.t)));
    this.#announce(`${words.title}. ${words.text}`);
    if (run.failure.kind === "lost" || [401, 503].includes(run.failure.status)) this.#server.watch();
  }

  #moveTo(t) {
    this.#ruler.t = t;
    this.#ruler.focus();
    this.#moved();
  }

  #moved() {
    this.#touched = true;
    if (this.#run === null) this.#example.move(this.#ruler.t);
    else if (this.#run.reply) this.#show();
    else this.#draw();
  }

  /** The slider belongs to the answer that is shown until the reader writes another question. */
  #edited() {
    if (this.#run?.reply) this.#lock();
  }

  #lock() {
    const { reply, request } = this.#run;
    const floor = this.#composer.question === request.question ? lowest(reply) : 0;
    this.#ruler.lock(floor, floor > 0 ? WITHHELD : "");
  }

  #show() {
    const shown = this.#answer.decide(this.#run, this.#ruler.t);
    const steps = (shown.claims ?? []).map((claim) => claim.confidence);
    this.#ruler.mark(steps, shown.confidence);
    const doubted = steps.filter((p) => isBelow(p, shown.risk_threshold)).length;
    const below = steps.length > 0 ? `, ${doubted} of ${count(steps.length, "step")} below` : "";
    this.#ruler.describe(`${headline(shown).toLowerCase()}${below}`);
    return shown;
  }

  #announce(text) {
    setText(find("announcer"), text);
  }
}

new Page().start();
