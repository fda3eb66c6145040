// What the page shows before the first question: an answer to try the slider on. It is written here, by no model.

import { isBelow, redecide } from "./decide.js";
import { el } from "./dom.js";
import { segments } from "./spans.js";
import { Steps } from "./steps.js";
import { Verdict } from "./verdict.js";

const EXAMPLE = {
  contract: "", granularity: "response", risk_threshold: 0.5, decision: "answer", reason: null, samples: null, raw: null,
  confidence_source: "verbalized", aggregation: "min", confidence: 0.41, calibrated: true, withheld: null,
  answer: "It is a Wednesday.",
  text: "An ordinary year has 52 weeks and 1 day.\n" +
    "So the same date falls one weekday later each year.\n" +
    "From a Sunday, three years on, it is a Wednesday.",
  claims: [
    { span: [0, 40], confidence: 0.97, explanation: "365 = 52 × 7 + 1", problems: [] },
    { span: [41, 92], confidence: 0.78, explanation: "true unless a leap day lies between", problems: [] },
    { span: [93, 142], confidence: 0.41, explanation: "nobody ruled out a leap day in between", problems: [] },
  ],
};

/** Show the example in `root` until the first question; gives {move(t)}. `moveTo(t)` moves the slider. */
export function showExample(root, prose, ruler, moveTo) {
  const steps = new Steps(prose);
  const verdict = new Verdict(prose, { moveTo, askAgain: moveTo });
  root.replaceChildren(
    el("p", { class: "label" }, "An example: “It is the 3rd of May, a Sunday. What day is it in three years?” Move the slider."),
    verdict.element, steps.element,
  );
  steps.settle(segments(EXAMPLE.text, EXAMPLE.claims));
  const confidences = EXAMPLE.claims.map((claim) => claim.confidence);
  return {
    move(t) {
      const shown = redecide(EXAMPLE, t);
      verdict.decided(EXAMPLE, shown, t);
      steps.element.hidden = shown.decision !== "answer";
      steps.threshold = t;
      ruler.mark([], EXAMPLE.confidence);
      const doubted = confidences.filter((p) => isBelow(p, t)).length;
      ruler.describe(`${shown.decision === "answer" ? "answer" : "no answer"}, ${doubted} of ${confidences.length} steps below`);
    },
  };
}
