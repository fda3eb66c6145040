// The decision, in words: the answer, or why there is none and what would show it.

import { isToldRisk, redecide } from "./decide.js";
import { copyButton } from "./copy.js";
import { el, setText } from "./dom.js";
import { guaranteeWords } from "./promise.js";
import { signalWords } from "./sources.js";
import { unchecked } from "./unchecked.js";
import { cost, count, explanation, headline, percent } from "./words.js";

/**
 * `moveTo(t)` moves the slider, `askAgain(t)` asks the same question, `followUp(shown)` goes on from it.
 * @typedef {{moveTo: (t: number) => void, askAgain: (t: number) => void, followUp?: (shown: Reply) => void}} Actions
 */

export class Verdict {
  #prose;
  #label = el("h2", { class: "label" });
  #sure = el("p", { class: "assurance" });
  #answer = el("p", { class: "answer untrusted", dir: "auto" });
  #cover = el("div", { class: "cover" });
  #bars = el("div", { class: "bars", "aria-hidden": "true" });
  #covered = el("p", { class: "covered" });
  #why = el("p", { class: "because" });
  #calibration = el("p", { class: "calibration" });
  #promise = el("p", { class: "guarantee" });
  #cost = el("p", { class: "cost" });
  #actions = el("p", { class: "actions" });
  /** @type {string | null} */
  #answerShown = null;
  /**
   * What the actions are about: the same ones are not made anew, since a button that is pressed would lose its click.
   * @type {{reply: Reply, t: number} | null}
   */
  #offered = null;

  /**
   * @param {import("./prose.js").Prose} prose
   * @param {Actions} actions
   */
  constructor(prose, { moveTo, askAgain, followUp }) {
    this.#prose = prose;
    this.followUp = followUp;
    this.moveTo = moveTo;
    this.askAgain = askAgain;
    this.#cover.append(this.#bars, this.#covered);
    this.element = el(
      "div",
      { class: "verdict" },
      this.#label, this.#sure, this.#answer, this.#cover, this.#why, this.#promise, this.#calibration, this.#cost, this.#actions,
    );
  }

  /** While it works: how much there is so far, and whether that is `covered` until the decision. */
  working({ tokens, words, covered, samples }) {
    this.#kind("working");
    setText(this.#label, "Working");
    this.#setAnswer(null);
    this.#setSure(null, 0);
    this.#setCover(covered ? words : 0, "so far");
    const until = samples > 1 ? "the samples have been compared" : "it has said how sure it is";
    const hidden = covered ? `What it writes stays covered until ${until}. ` : "";
    const made = words > 0 ? count(words, "word") : count(tokens, "token");
    setText(this.#why, `${hidden}${covered && words > 0 ? "" : `${made} so far.`}`);
    this.#set(this.#calibration, "");
    for (const part of [this.#cost, this.#promise]) this.#set(part, "");
    this.#offered = null;
    this.#actions.replaceChildren();
  }

  /**
   * What was decided: `shown` is `reply` at the slider's threshold `t`; it took `seconds`.
   * @param {Reply} reply
   * @param {Reply} shown
   * @param {number} t
   * @param {number | null} seconds
   */
  decided(reply, shown, t, seconds = null) {
    this.#kind(shown.decision);
    setText(this.#label, headline(shown));
    this.#setAnswer(shown.decision === "answer" ? shown.answer : null);
    const held = shown.decision === "abstain" && shown.text === null ? shown.withheld : null;
    this.#setCover(held?.text ? wordsIn(held.text) : 0, "withheld");
    this.#setSure(shown.confidence, shown.risk_threshold);
    setText(this.#why, explanation(shown));
    this.#set(this.#calibration, unchecked(reply));
    this.#set(this.#promise, guaranteeWords(shown.guarantee, shown.granularity, shown.decision));
    this.#set(this.#cost, [cost(reply, seconds), signalWords(shown.signals)].filter(Boolean).join(". "));
    if (this.#offered?.reply === reply && this.#offered.t === t) return;
    this.#offered = { reply, t };
    const use = shown.decision === "answer" && this.followUp ? this.#uses(shown, this.followUp) : [];
    this.#actions.replaceChildren(...this.#offers(reply, shown, t), ...use);
  }

  /**
   * Why there is no answer, and the button that asks `again`.
   * @param {{title: string, text: string}} words
   * @param {HTMLElement} again
   */
  failed({ title, text }, again) {
    this.#kind("failed");
    setText(this.#label, title);
    this.#setAnswer(null);
    this.#setCover(0, "");
    this.#setSure(null, 0);
    setText(this.#why, text);
    this.#set(this.#calibration, "");
    for (const part of [this.#cost, this.#promise]) this.#set(part, "");
    this.#offered = null;
    this.#actions.replaceChildren(again);
  }

  /**
   * @param {Reply} reply
   * @param {Reply} shown
   * @param {number} t
   */
  #offers(reply, shown, t) {
    if (isToldRisk(reply)) {
      const note = el("span", {}, "Its threshold was part of the question, so this answer cannot be moved. ");
      return t === reply.risk_threshold ? [note] : [note, this.#askButton(t)];
    }
    const reachable = shown.decision === "abstain" ? answeredAt(reply) : null;
    if (reachable !== null) {
      const move = () => this.moveTo(reachable);
      return [el("button", { type: "button", onclick: move }, `Show it at ${percent(reachable)}`)];
    }
    return shown.decision === "abstain" && reply.raw ? [el("span", {}, "The raw output is below.")] : [];
  }

  /**
   * @param {Reply} shown
   * @param {(shown: Reply) => void} followUp
   */
  #uses(shown, followUp) {
    const goOn = el("button", { type: "button", onclick: () => followUp(shown) }, "Ask a follow-up");
    return [copyButton("Copy answer", () => shown.answer ?? "", () => this.#answer), goOn];
  }

  /** @param {number} t */
  #askButton(t) {
    return el("button", { type: "button", onclick: () => this.askAgain(t) }, `Ask again at ${percent(t)}`);
  }

  #kind(kind) {
    this.element.dataset.kind = kind;
  }

  #set(element, text) {
    setText(element, text);
    element.hidden = !text;
  }

  /** @param {string | null} answer */
  #setAnswer(answer) {
    this.#answer.hidden = answer === null;
    if (answer === this.#answerShown) return;
    this.#answerShown = answer;
    if (answer === null) this.#answer.replaceChildren();
    else this.#prose.writeAnswer(this.#answer, answer);
    this.#answer.classList.toggle("long", (answer?.length ?? 0) > 60);
  }

  /**
   * @param {number | null} confidence
   * @param {number} t
   */
  #setSure(confidence, t) {
    this.#set(this.#sure, confidence === null ? "" : `${percent(confidence)} sure`);
    this.#sure.style.setProperty("--doubt-share", String(1 - (confidence ?? 1)));
    this.#sure.classList.toggle("doubted", confidence !== null && confidence < t);
  }

  /**
   * Bars for text that is here and not shown, eight words a bar, six bars at most; and how much it is.
   * @param {number} words
   * @param {string} state
   */
  #setCover(words, state) {
    const bars = Math.min(6, Math.ceil(words / 8));
    this.#cover.hidden = bars === 0;
    setText(this.#covered, `${count(words, "word")} ${state}`);
    if (this.#bars.childElementCount === bars) return;
    this.#bars.replaceChildren(...Array.from({ length: bars }, () => el("span")));
  }
}

/**
 * The highest whole percent at which `reply` would be answered with what is here; null when there is none.
 * @param {Reply} reply
 */
function answeredAt(reply) {
  const top = reply.confidence === null ? 0 : Math.round(100 * reply.confidence);
  return [top, top - 1].map((at) => at / 100).find((t) => t >= 0 && redecide(reply, t).decision === "answer") ?? null;
}

const wordsIn = (text) => text.split(/\s+/).length;
