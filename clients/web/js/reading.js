// What the slider's number means for the run that is shown, or for the question that would be asked; and that run at it.

import { consequence } from "./consequence.js";
import { isBelow, lowest } from "./decide.js";
import { ErrorRate, levelWords, samplesOf } from "./promise.js";
import { modeOf, questionOf } from "./request.js";
import { count, headline } from "./words.js";

const WITHHELD = "This server keeps withheld text to itself, so this answer can only be held to more.";

export class Reading {
  /** @type {import("./run.js").Run | null} */
  run = null;

  /**
   * @param {{
   *   ruler: import("./ruler.js").Ruler,
   *   answer: import("./answer.js").AnswerView,
   *   composer: import("./composer.js").Composer,
   *   server: import("./server.js").Server,
   *   example: {move: (t: number) => void},
   * }} parts
   */
  constructor({ ruler, answer, composer, server, example }) {
    this.ruler = ruler;
    this.answer = answer;
    this.composer = composer;
    this.server = server;
    this.example = example;
    this.rate = new ErrorRate({ onChoose: (level) => this.#choose(level) });
  }

  /**
   * What is asked for: the error rate that was chosen, else the slider's threshold.
   * @returns {Bar}
   */
  get bar() {
    const level = this.rate.chosen;
    return level ? { max_error: level.max_error } : { risk_threshold: this.ruler.t };
  }

  get isAsking() {
    return this.run !== null && !this.run.isDone;
  }

  /**
   * Make room for `run`.
   * @param {import("./run.js").Run} run
   */
  open(run) {
    this.run = run;
    this.ruler.lock(0);
    this.ruler.mark([], null);
    this.ruler.describe("");
    this.answer.begin(run.request);
    this.tell();
  }

  /** What came so far. */
  progress() {
    if (this.run === null || this.run.isDone) return;
    this.answer.progress(this.run, this.ruler.t);
    const { segments } = this.run.folded;
    if (segments.length > 0) this.ruler.mark(segments.flatMap(({ claim }) => (claim ? [claim.confidence] : [])), null);
  }

  /** The reader moved the slider: no other threshold than its own has the promise. */
  leave() {
    this.rate.clear();
    this.move();
  }

  /** The slider stands elsewhere. */
  move() {
    this.tell();
    if (this.run === null) this.example.move(this.ruler.t);
    else if (this.run.hasReply()) this.show(this.run);
    else this.progress();
  }

  /** The form changed. The slider belongs to the answer that is shown until the reader writes another question. */
  edit() {
    if (this.run?.reply) this.lock();
    this.move();
  }

  /**
   * A request was put into the form: what it abstains by goes to the slider, or to the error rates on offer.
   * @param {Asked} request
   */
  take({ risk_threshold: t, max_error: most }) {
    if (t != null) this.ruler.t = t;
    this.edit();
    this.rate.choose(most);
    this.edit();
  }

  /** Say in words what the slider does. */
  tell() {
    const shown = this.#shown;
    const request = shown ? shown.request : this.composer.request({ risk_threshold: this.ruler.t });
    const asked = shown?.reply ?? request;
    const mode = modeOf(asked);
    this.ruler.mode = mode;
    const { measured, calibrators } = this.server.model ?? {};
    this.rate.offer(calibrators, asked, request);
    const level = this.rate.chosen;
    this.ruler.consequence = level ? levelWords(level, mode) : this.#measuredAt(measured, mode, asked);
  }

  /** Let the slider go no lower than what came allows. */
  lock() {
    const reply = this.#shown?.reply;
    const floor = reply ? lowest(reply) : 0;
    this.ruler.lock(floor, floor > 0 ? WITHHELD : "");
  }

  /**
   * The reply of `run` at the slider's threshold; gives what is shown.
   * @param {import("./run.js").Run & {reply: Reply}} run
   */
  show(run) {
    const shown = this.answer.decide(run, this.ruler.t);
    const steps = (shown.claims ?? []).map((claim) => claim.confidence);
    this.ruler.mark(steps, shown.confidence);
    const doubted = steps.filter((p) => isBelow(p, shown.risk_threshold)).length;
    const below = steps.length > 0 ? `, ${doubted} of ${count(steps.length, "step")} below` : "";
    this.ruler.describe(`${headline(shown).toLowerCase()}${below}`);
    return shown;
  }

  /**
   * What was measured at the slider's threshold, of single answers; null where none of it can be, "" where it may be
   * elsewhere on the slider.
   * @param {Model["measured"] | undefined} measured
   * @param {Mode} mode
   * @param {Asked | Reply} asked
   */
  #measuredAt(measured, mode, asked) {
    if (measured === undefined) return "";
    const figures = mode === "decide" && samplesOf(asked) === 1 ? measured[asked.contract ?? ""] : undefined;
    return figures ? consequence(figures, this.ruler.t) : null;
  }

  /** @param {Level | null} level */
  #choose(level) {
    if (level) this.ruler.t = level.threshold;
    this.move();
  }

  /** The run that the form still asks for; null when the reader writes another question. */
  get #shown() {
    return this.run !== null && this.composer.question === questionOf(this.run.request) ? this.run : null;
  }
}
