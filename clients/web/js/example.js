// What the page shows before the first question: an answer to try the slider on. It is written here, by no model.

import { isBelow, redecide } from "./decide.js";
import { el } from "./dom.js";
import { segments } from "./spans.js";
import { Steps } from "./steps.js";
import { Verdict } from "./verdict.js";

const TEXT = "An ordinary year has 52 weeks and 1 day.\n" +
  "So the same date falls one weekday later each year.\n" +
  "From a Sunday, three years on, it is a Wednesday.";

/** @type {Reply & {claims: Claim[]}} */
const EXAMPLE = {
  id: "", object: "answer", created: 0, model: "", contract: "response", usage: { prompt_tokens: null, completion_tokens: null, samples_drawn: 1, samples_aborted: 0 },
  granularity: "response", risk_threshold: 0.5, decision: "answer", reason: null, samples: null, raw: null,
  confidence_source: "verbalized", aggregation: "min", confidence: 0.41, calibrated: true, withheld: null,
  answer: "It is a Wednesday.",
  text: TEXT,
  claims: [
    step([0, 40], 0.97, "365 = 52 × 7 + 1"),
    step([41, 92], 0.78, "true unless a leap day lies between"),
    step([93, 142], 0.41, "nobody ruled out a leap day in between"),
  ],
};

/**
 * @param {[number, number]} span
 * @param {number} confidence
 * @param {string} explanation
 * @returns {Claim}
 */
function step(span, confidence, explanation) {
  return { text: "", span, confidence, explanation, decision: "assert", problems: [] };
}

/**
 * Show the example in `root` until the first question; gives {move(t)}. `moveTo(t)` moves the slider.
 * @param {HTMLElement} root
 * @param {import("./prose.js").Prose} prose
 * @param {import("./ruler.js").Ruler} ruler
 * @param {(t: number) => void} moveTo
 */
export function showExample(root, prose, ruler, moveTo) {
  const steps = new Steps(prose);
  const verdict = new Verdict(prose, { moveTo, askAgain: moveTo });
  root.replaceChildren(
    el("p", { class: "label" }, "An example: “It is the 3rd of May, a Sunday. What day is it in three years?” Move the slider."),
    verdict.element, steps.element,
  );
  steps.settle(segments(TEXT, EXAMPLE.claims));
  const confidences = EXAMPLE.claims.map((claim) => claim.confidence);
  return {
    move(/** @type {number} */ t) {
      const moved = redecide(EXAMPLE, t);
      const shown = moved.refused ? EXAMPLE : moved;
      verdict.decided(EXAMPLE, shown, t);
      steps.element.hidden = shown.decision !== "answer";
      steps.threshold = t;
      ruler.mark([], EXAMPLE.confidence);
      const doubted = confidences.filter((p) => isBelow(p, t)).length;
      ruler.describe(`${shown.decision === "answer" ? "answer" : "no answer"}, ${doubted} of ${confidences.length} steps below`);
    },
  };
}
