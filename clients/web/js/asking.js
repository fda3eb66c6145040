// From a request to what is shown of it: one question at a time.

import { find, oncePerFrame } from "./dom.js";
import { loadLibraries } from "./libraries.js";
import { formOf, isLive } from "./request.js";
import { retryButton } from "./retry.js";
import { Run } from "./run.js";
import { enter, keepRun } from "./visits.js";
import { failureWords, spoken } from "./words.js";

export class Asking {
  #draw = oncePerFrame(() => this.reading.progress());

  /** `announce(text)` tells who cannot see; `onDone(request, shown)` when there is a reply. */
  constructor({ reading, composer, server, announce, onDone }) {
    Object.assign(this, { reading, composer, server, announce, onDone });
  }

  begin(request) {
    const id = enter(request);
    const run = new Run(request, () => (run.isDone ? this.#end(run, id) : this.#draw()));
    this.#open(run);
    this.composer.state = "asking";
    this.announce("Asking.");
    this.reading.progress();
    loadLibraries();
    run.start();
  }

  /** The same question at the threshold `t`. */
  again(t) {
    const { run, ruler, isAsking } = this.reading;
    if (run === null || isAsking) return;
    ruler.lock(0);
    ruler.t = t;
    const { max_error: _, ...request } = run.request;
    this.reading.rate.clear();
    this.begin({ ...request, risk_threshold: t });
    ruler.focus();
  }

  /** Show a run that ended before. */
  revive(run) {
    this.#open(run);
    this.reading.ruler.t = run.reply.risk_threshold;
    this.reading.lock();
    this.reading.show();
  }

  #open(run) {
    document.body.classList.add("asked");
    find("title").classList.add("quiet");
    this.reading.open(run);
  }

  #end(run, id) {
    const { ruler } = this.reading;
    this.composer.state = "idle";
    if (run !== this.reading.run) return;
    if (run.failure) return this.#failed(run);
    if (run.request.max_error !== undefined) ruler.t = run.reply.risk_threshold;
    this.reading.lock();
    const shown = this.reading.show();
    keepRun(id, run);
    this.onDone(run.request, shown);
    this.announce(spoken(shown));
  }

  #failed(run) {
    const { answer, ruler } = this.reading;
    const seen = isLive(run.request, formOf(run.request)) && run.folded.text !== "";
    const words = failureWords(run.failure, seen);
    answer.progress(run, ruler.t);
    answer.fail(run, words, retryButton(run.failure.retryAfter, () => this.again(ruler.t)));
    this.announce(`${words.title}. ${words.text}`);
    if (run.failure.kind === "lost" || [401, 503].includes(run.failure.status)) this.server.watch();
  }
}
