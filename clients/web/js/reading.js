// What the slider's number means for the run that is shown, or for the question that would be asked; and that run at it.

import { consequence } from "./consequence.js";
import { isBelow, lowest } from "./decide.js";
import { modeOf, questionOf } from "./request.js";
import { count, headline } from "./words.js";

const WITHHELD = "This server keeps withheld text to itself, so this answer can only be held to more.";

export class Reading {
  run = null;

  constructor({ ruler, answer, composer, server, example }) {
    Object.assign(this, { ruler, answer, composer, server, example });
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

  /** The slider moved. */
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

  /** Say in words what the slider does. */
  tell() {
    const asked = this.#isOfAnswer() ? this.run.reply ?? this.run.request : this.composer.request(this.ruler.t);
    const mode = modeOf(asked);
    this.ruler.mode = mode;
    const measured = this.server.model?.measured?.[asked.contract];
    this.ruler.consequence = mode === "decide" ? consequence(measured, this.ruler.t) : "";
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

  #isOfAnswer() {
    return this.run !== null && this.composer.question === questionOf(this.run.request);
  }
}
