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

  /**
   * `announce(text)` tells who cannot see; `onDone(request, shown)` when there is a reply.
   * @param {{
   *   reading: import("./reading.js").Reading,
   *   composer: import("./composer.js").Composer,
   *   server: import("./server.js").Server,
   *   announce: (text: string) => void,
   *   onDone: (request: Asked, shown: Reply) => void,
   * }} parts
   */
  constructor({ reading, composer, server, announce, onDone }) {
    this.reading = reading;
    this.composer = composer;
    this.server = server;
    this.announce = announce;
    this.onDone = onDone;
  }

  /** @param {Asked} request */
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

  /**
   * The same question at the threshold `t`.
   * @param {number} t
   */
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

  /**
   * Show a run that ended before.
   * @param {Run & {reply: Reply}} run
   */
  revive(run) {
    this.#open(run);
    this.reading.ruler.t = run.reply.risk_threshold;
    this.reading.lock();
    this.reading.show(run);
  }

  /** @param {Run} run */
  #open(run) {
    document.body.classList.add("asked");
    find("title").classList.add("quiet");
    this.reading.open(run);
  }

  /**
   * @param {Run} run
   * @param {string} id
   */
  #end(run, id) {
    const { ruler } = this.reading;
    this.composer.state = "idle";
    if (run !== this.reading.run) return;
    if (run.failure) return this.#failed(run, run.failure);
    if (!run.hasReply()) return;
    if (run.request.max_error !== undefined) ruler.t = run.reply.risk_threshold;
    this.reading.lock();
    const shown = this.reading.show(run);
    keepRun(id, run);
    this.onDone(run.request, shown);
    this.announce(spoken(shown));
  }

  /**
   * @param {Run} run
   * @param {import("./api.js").Failure} failure
   */
  #failed(run, failure) {
    const { answer, ruler } = this.reading;
    const seen = isLive(run.request, formOf(run.request)) && run.folded.text !== "";
    const words = failureWords(failure, seen);
    answer.progress(run, ruler.t);
    answer.fail(run, words, retryButton(failure.retryAfter, () => this.again(ruler.t)));
    this.announce(`${words.title}. ${words.text}`);
    if (failure.kind === "lost" || failure.status === 401 || failure.status === 503) this.server.watch();
  }
}
