// One question on its way: the request, what came back so far, and how it ended.

import { ask, Failure } from "./api.js";
import { Folded } from "./fold.js";

/** What the server lets this page have; learnt from its first refusal. */
export const allowed = { withheld: true };

export class Run {
  folded = new Folded();
  /**
   * Seconds from asking to the end.
   * @type {number | null}
   */
  seconds = null;
  /** @type {Reply | null} */
  reply = null;
  /** @type {Failure | null} */
  failure = null;
  #controller = new AbortController();

  /**
   * `onChange(run)` after every event and at the end.
   * @param {Asked} request
   * @param {(run: Run) => void} onChange
   */
  constructor(request, onChange) {
    this.request = request;
    this.onChange = onChange;
  }

  /**
   * A run that ended before, as `kept` has it.
   * @param {{request: Asked, reply: Reply, seconds: number | null}} kept
   */
  static ended({ request, reply, seconds }) {
    return Object.assign(new Run(request, () => {}), { reply, seconds });
  }

  get isDone() {
    return this.reply !== null || this.failure !== null;
  }

  /** @returns {this is Run & {reply: Reply}} */
  hasReply() {
    return this.reply !== null;
  }

  stop() {
    this.#controller.abort();
  }

  /** Never throws: what went wrong is `failure`. */
  async start() {
    const started = performance.now();
    try {
      this.reply = await this.#ask();
    } catch (error) {
      this.failure = error instanceof Failure ? error : new Failure("lost", String(error));
    }
    this.seconds = (performance.now() - started) / 1000;
    this.onChange(this);
  }

  /** Withheld text is asked for, so that the slider can move freely; where that is forbidden, without it. */
  async #ask() {
    try {
      return await this.#send();
    } catch (error) {
      const kept = error instanceof Failure && error.status === 403 && error.param === "include_withheld";
      if (!(allowed.withheld && kept)) throw error;
      allowed.withheld = false;
      return await this.#send();
    }
  }

  #send() {
    const page = allowed.withheld ? { include_withheld: true, include_raw: true } : { include_raw: true };
    const onEvent = (/** @type {string} */ event, /** @type {any} */ data) => {
      this.folded.take(event, data);
      this.onChange(this);
    };
    return ask({ ...this.request, ...page }, { signal: this.#controller.signal, onEvent });
  }
}
