// Several samples: each as it arrives, then the vote between their answers.

import { el, setText } from "./dom.js";
import { weigh } from "./rules.js";
import { count, percent, settledBy } from "./words.js";

export class Vote {
  #prose;
  #summary = el("p", { class: "because" });
  #arrivals = el("ol", { class: "arrivals", role: "list" });
  #groups = el("ol", { class: "groups", role: "list" });
  #shown = 0;

  /** @param {import("./prose.js").Prose} prose */
  constructor(prose) {
    this.#prose = prose;
    this.element = el("section", { class: "vote", "aria-label": "The vote" },
      el("h2", { class: "label" }, "The vote"), this.#summary, this.#arrivals, this.#groups);
  }

  clear() {
    this.#arrivals.replaceChildren();
    this.#groups.replaceChildren();
    this.#shown = 0;
  }

  /**
   * Samples so far, of `most`.
   * @param {Sample[]} samples
   * @param {number} most
   */
  arriving(samples, most) {
    setText(this.#summary, `${samples.length} of ${most} samples are there.`);
    for (const sample of samples.slice(this.#shown)) this.#arrivals.append(arrival(sample));
    this.#shown = samples.length;
  }

  /**
   * The vote as it ended, by the selection `rule`; the answer's confidence is from `source`. `cover` is said in place of all answers, unless null; `unseen` of
   * one that is not here.
   * @param {Samples} samples
   * @param {{rule: string, source: string}} how
   * @param {string | null} cover
   * @param {string} unseen
   */
  ended(samples, { rule, source }, cover, unseen) {
    this.#arrivals.replaceChildren();
    const { groups, total, why } = weigh(samples, rule, source);
    setText(this.#summary, [summary(samples), why].filter(Boolean).join(" "));
    const rows = groups.map((weighed) => {
      const instead = cover ?? (weighed.group.answer === null ? unseen : null);
      return this.#group(weighed, total, samples.drawn, instead);
    });
    this.#groups.replaceChildren(...rows);
  }

  /**
   * @param {import("./rules.js").Weighed} weighed
   * @param {number} total
   * @param {number} drawn
   * @param {string | null} instead
   */
  #group({ group, members: own, total: weight }, total, drawn, instead) {
    const kind = instead === null ? "group-answer untrusted" : "group-answer unseen";
    const answer = el("span", { class: kind, dir: "auto" }, instead);
    if (instead === null) this.#prose.writeAnswer(answer, group.answer ?? "");
    const share = total > 0 ? weight / total : group.vote_share;
    const stated = own.filter((member) => member.confidence !== null).map((member) => percent(member.confidence));
    const facts = `${percent(share)} of the weight, ${own.length} of ${count(drawn, "sample")}, ` +
      (stated.length === 0 ? "no confidence" : `sure: ${listed(stated)}`);
    const bar = el("span", { class: "bar", "aria-hidden": "true" }, ...own.map((member) => dot(member, total)));
    return el("li", { class: group.chosen ? "group chosen" : "group" },
      answer, group.chosen ? el("span", { class: "chosen-mark" }, "chosen") : null, bar,
      el("span", { class: "facts" }, facts));
  }
}

/** @param {Samples} samples */
function summary(samples) {
  const { drawn, aborted, tokens_saved: saved } = samples;
  const enough = `${drawn} of ${drawn + aborted} samples were enough: ${settledBy(samples)}.`;
  const sentences = [
    aborted > 0 ? enough : `${count(drawn, "sample")}.`,
    saved > 0 ? `About ${count(saved, "token")} saved.` : "",
    unread(samples.members.filter((member) => member.group === null).length),
  ];
  return sentences.filter(Boolean).join(" ");
}

/** @param {number} number */
const unread = (number) => (number > 0 ? `${count(number, "sample")} gave no answer that can be read.` : "");

/** @param {Sample} sample */
function arrival({ confidence, state }) {
  const made = el("li", { class: state === "value" ? "sample" : "sample unread" },
    el("span", {}, state === "value" ? percent(confidence) : state));
  made.style.setProperty("--p", String(confidence ?? 0));
  return made;
}

const LISTED = 8;

/** @param {string[]} stated */
const listed = (stated) => stated.slice(0, LISTED).join(", ") + (stated.length > LISTED ? " …" : "");

/**
 * As wide as what it weighs.
 * @param {import("./rules.js").Voter} voter
 * @param {number} total
 */
function dot({ confidence, weight }, total) {
  const made = el("span", { class: confidence === null ? "dot unread" : "dot" });
  made.style.setProperty("--p", String(confidence ?? 0));
  made.style.setProperty("--each", String(total > 0 ? weight / total : 0));
  return made;
}
