// What the page shows before the first question: an answer to try the slider on. It is written here, by no model.

import { isBelow } from "./decide.js";
import { el } from "./dom.js";
import { segments } from "./spans.js";
import { Steps } from "./steps.js";

const EXAMPLE = {
  text: "An ordinary year has 52 weeks and 1 day.\n" +
    "So the same date falls one weekday later each year.\n" +
    "From a Sunday, three years on, it is a Wednesday.",
  claims: [
    { span: [0, 40], confidence: 0.97, explanation: "365 = 52 × 7 + 1", problems: [] },
    { span: [41, 92], confidence: 0.78, explanation: "true unless a leap day lies between", problems: [] },
    { span: [93, 142], confidence: 0.41, explanation: "nobody ruled out a leap day in between", problems: [] },
  ],
};

/** Show the example in `root` until the first question; gives {move(t)}. */
export function showExample(root, prose, ruler) {
  const steps = new Steps(prose);
  root.replaceChildren(
    el("p", { class: "label" }, "An example, to try the slider on"),
    steps.element,
  );
  steps.settle(segments(EXAMPLE.text, EXAMPLE.claims));
  const confidences = EXAMPLE.claims.map((claim) => claim.confidence);
  return {
    move(t) {
      const doubted = confidences.filter((p) => isBelow(p, t)).length;
      steps.threshold = t;
      ruler.mark(confidences, null);
      ruler.describe(`${doubted} of ${confidences.length} steps below`);
    },
  };
}
