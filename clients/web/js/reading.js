// What the slider's number means for the run that is shown, or for the question that would be asked; and that run at it.

import { consequence } from "./consequence.js";
import { isBelow, lowest } from "./decide.js";
import { ErrorRate, levelWords } from "./promise.js";
import { modeOf, questionOf } from "./request.js";
import { count, headline } from "./words.js";

const WITHHELD = "This server keeps withheld text to itself, so this answer can only be held to more.";

export class Reading {
  run = null;

  constructor({ ruler, answer, composer, server, example }) {
    Object.assign(this, { ruler, answer, composer, server, example });
    this.rate = new ErrorRate({ onChoose: (level) => this.#choose(level) });
  }

  /** What is asked for: the error rate that was chosen, else the slider's threshold. */
  get bar() {
    const level = this.rate.chosen;
    return level ? { max_error: level.max_error } : { risk_threshold: this.ruler.t };
  }

  get isAsking() {
    return this.run !== null && !this.run.isDone;
  }

  /** Make room for `run`. */
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
    if (!this.isAsking) return;
    this.answer.progress(this.run, this.ruler.t);
    const { segments } = this.run.folded;
    if (segments.length > 0) this.ruler.mark(segments.filter((s) => s.claim).map((s) => s.claim.confidence), null);
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
    else if (this.run.reply) this.show();
    else this.progress();
  }

  /** The form changed. The slider belongs to the answer that is shown until the reader writes another question. */
  edit() {
    if (this.run?.reply) this.lock();
    this.move();
  }

  /** A request was put into the form: what it abstains by goes to the slider, or to the error rates on offer. */
  take({ risk_threshold: t, max_error: most }) {
    if (t !== undefined) this.ruler.t = t;
    this.edit();
    this.rate.choose(most);
    this.edit();
  }

  /** Say in words what the slider does. */
  tell() {
    const asked = this.#isOfAnswer() ? this.run.reply ?? this.run.request : this.composer.request({ risk_threshold: this.ruler.t });
    const mode = modeOf(asked);
    this.ruler.mode = mode;
    const { measured, calibrators } = this.server.model ?? {};
    this.rate.offer(calibrators, asked);
    const level = this.rate.chosen;
    const found = mode === "decide" ? consequence(measured?.[asked.contract], this.ruler.t) : "";
    this.ruler.consequence = level ? levelWords(level, mode) : found;
  }

  /** Let the slider go no lower than what came allows. */
  lock() {
    const floor = this.#isOfAnswer() ? lowest(this.run.reply) : 0;
    this.ruler.lock(floor, floor > 0 ? WITHHELD : "");
  }

  /** The reply at the slider's threshold; gives what is shown. */
  show() {
    const shown = this.answer.decide(this.run, this.ruler.t);
    const steps = (shown.claims ?? []).map((claim) => claim.confidence);
    this.ruler.mark(steps, shown.confidence);
    const doubted = steps.filter((p) => isBelow(p, shown.risk_threshold)).length;
    const below = steps.length > 0 ? `, ${doubted} of ${count(steps.length, "step")} below` : "";
    this.ruler.describe(`${headline(shown).toLowerCase()}${below}`);
    return shown;
  }

  #choose(level) {
    if (level) this.ruler.t = level.threshold;
    this.move();
  }

  #isOfAnswer() {
    return this.run !== null && this.composer.question === questionOf(this.run.request);
  }
}
