// Questions to try: the served model's own, each with what it shows; general ones where it brings none.

import { el, find } from "./dom.js";
import { percent } from "./words.js";

/** @type {Example[]} */
const GENERAL = [
  "Pens come in packs of 3 for 2 euros. What do 12 pens cost?",
  "How many moons does Saturn have?",
  "Which is larger, 9.11 or 9.9?",
].map((question) => ({ question }));

const SHOWS = { answer: "it is sure", abstain: "it declines", doubt: "a step is doubtful" };

/**
 * The threshold that an example brings along.
 * @param {Example} example
 */
const at = ({ risk_threshold: t }) => (t == null ? "" : ` at ${percent(t)}`);

/**
 * Offer `examples` of the model; `onTry(example)` when one is chosen.
 * @param {Example[]} examples
 * @param {(example: Example) => void} onTry
 */
export function offerExamples(examples, onTry) {
  const offered = (examples.length > 0 ? examples : GENERAL).map((example) => {
    const { question, shows } = example;
    const what = shows ? el("span", { class: "shows" }, `${SHOWS[shows]}${at(example)}`) : null;
    return el("button", { type: "button", onclick: () => onTry(example) }, el("span", {}, question), what);
  });
  find("examples").replaceChildren(el("span", {}, "Try"), ...offered);
}
