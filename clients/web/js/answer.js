// The answer section: what one run has shown so far, and then its reply at the slider's threshold.

import { isToldRisk, lowest, redecide } from "./decide.js";
import { el } from "./dom.js";
import { Expected } from "./expected.js";
import { Program } from "./program.js";
import { Raw } from "./raw.js";
import { formOf, isLive, questionOf } from "./request.js";
import { allowed } from "./run.js";
import { segments } from "./spans.js";
import { Steps } from "./steps.js";
import { appendUntrusted } from "./untrusted.js";
import { Verdict } from "./verdict.js";
import { Vote } from "./vote.js";

/**
 * The slider has whole percents: where it stands on the reply's threshold, it means that one.
 * @param {Reply} reply
 * @param {number} t
 */
const atOwn = ({ risk_threshold: own }, t) => (Math.round(100 * own) === Math.round(100 * t) ? own : t);

const LONGEST_QUESTION = 2000;

export class AnswerView {
  #steps;
  #verdict;
  #vote;
  #raw;
  #expected = new Expected();
  #program = new Program();
  #question = el("h2", { class: "asked-question untrusted", dir: "auto" });
  #restarts = el("p", { class: "restarts" });
  #onTheWay = el("h2", { class: "label" }, "What it wrote before its answer");
  #resets = 0;
  #closed = 0;
  /** @type {string | null | undefined} */
  #settled;

  /**
   * @param {HTMLElement} root
   * @param {import("./prose.js").Prose} prose
   * @param {import("./verdict.js").Actions} actions
   */
  constructor(root, prose, actions) {
    this.root = root;
    this.#steps = new Steps(prose);
    this.#verdict = new Verdict(prose, actions);
    this.#vote = new Vote(prose);
    this.#raw = new Raw(prose);
  }

  /**
   * Make room for a run: nothing of the last one stays.
   * @param {Asked} request
   */
  begin(request) {
    this.#question.replaceChildren();
    appendUntrusted(this.#question, questionOf(request).slice(0, LONGEST_QUESTION));
    this.#steps.clear();
    this.#vote.clear();
    [this.#resets, this.#closed, this.#settled] = [0, 0, undefined];
    this.root.replaceChildren(
      this.#question, this.#verdict.element, this.#restarts, this.#onTheWay, this.#steps.element, this.#vote.element, this.#raw.element,
      this.#expected.element, this.#program.element,
    );
    this.root.classList.remove("unfinished");
    this.#raw.set({ raw: null, covered: false });
    this.#expected.set({ values: null, covered: false });
    for (const part of [this.#restarts, this.#onTheWay, this.#vote.element, this.#program.element]) part.hidden = true;
  }

  /**
   * What `run` has so far.
   * @param {import("./run.js").Run} run
   * @param {number} t
   */
  progress({ folded, request }, t) {
    const live = isLive(request, formOf(request));
    const samples = request.samples ?? 1;
    this.#verdict.working({ tokens: folded.tokens, words: folded.words, covered: !live, samples });
    this.#noteResets(folded.resets);
    if (live) this.#stream(folded, t);
    if (folded.samples.length > 0) {
      this.#vote.element.hidden = false;
      this.#vote.arriving(folded.samples, samples);
    }
  }

  /**
   * `run` at the threshold `t`; gives what is shown.
   * @param {import("./run.js").Run & {reply: Reply}} run
   * @param {number} t
   */
  decide({ folded, reply, request, seconds }, t) {
    const moved = redecide(reply, atOwn(reply, Math.max(t, lowest(reply))));
    const shown = moved.refused ? reply : moved;
    this.#noteResets(folded.resets);
    this.#verdict.decided(reply, shown, t, seconds);
    this.#steps.threshold = shown.risk_threshold;
    this.#settle(shown);
    this.#showRest(reply, shown, request);
    return shown;
  }

  /**
   * Why there is no answer. What was shown stays, marked as unfinished.
   * @param {import("./run.js").Run} run
   * @param {{title: string, text: string}} words
   * @param {HTMLElement} again
   */
  fail({ folded }, words, again) {
    this.root.classList.add("unfinished");
    this.#noteResets(folded.resets);
    this.#verdict.failed(words, again);
  }

  /**
   * The steps of one answer are the same at every threshold that shows it.
   * @param {Reply} shown
   */
  #settle({ text, claims }) {
    if (text === this.#settled) return;
    this.#settled = text;
    this.#onTheWay.hidden = !text?.trim() || Boolean(claims?.length);
    this.#steps.settle(text === null ? [] : segments(text, claims ?? []));
  }

  /**
   * @param {Reply} reply
   * @param {Reply} shown
   * @param {Asked} request
   */
  #showRest(reply, shown, request) {
    this.#vote.element.hidden = !shown.samples;
    const covered = shown.decision !== "answer";
    const how = { rule: request.selection ?? "majconf", source: reply.confidence_source };
    if (shown.samples) this.#vote.ended(shown.samples, how, covered ? "covered" : null, unseenIn(reply));
    this.#raw.set({ raw: reply.raw, covered });
    this.#expected.set({ values: reply.token_values, covered });
    this.#program.element.hidden = false;
    this.#program.set({ request: atThreshold(request, shown), reply: shown });
  }

  /**
   * @param {import("./fold.js").Folded} folded
   * @param {number} t
   */
  #stream(folded, t) {
    if (folded.resets.length > this.#resets) {
      this.#steps.clear();
      this.#closed = 0;
    }
    this.#resets = folded.resets.length;
    this.#steps.threshold = t;
    for (const segment of folded.segments.slice(this.#closed)) this.#steps.add(segment);
    this.#closed = folded.segments.length;
    this.#steps.write(folded.tail);
  }

  #noteResets({ length }) {
    this.#restarts.hidden = length === 0;
    const times = length > 1 ? ` ${length} times` : "";
    this.#restarts.textContent = `The model started its solution over${times}: what it had shown before is void.`;
  }
}

/**
 * The request for what is shown: one that was moved has no error rate any more.
 * @param {Asked} request
 * @param {Reply} shown
 * @returns {Asked}
 */
function atThreshold({ max_error: rate, ...request }, shown) {
  return rate !== undefined && shown.guarantee ? { ...request, max_error: rate } : { ...request, risk_threshold: shown.risk_threshold };
}

/**
 * What to call an answer in the vote that is not here: samples may decline, and a server may keep the rest.
 * @param {Reply} reply
 */
function unseenIn(reply) {
  return isToldRisk(reply) && allowed.withheld ? "declined" : "another answer, not sent";
}
