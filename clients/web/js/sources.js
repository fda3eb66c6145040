// Where a confidence comes from, in words.

import { el } from "./dom.js";
import { percent } from "./words.js";

/** @type {Record<string, string>} */
const WORDS = {
  verbalized: "what the model says",
  critic: "the model’s critic",
  answer_logprob: "how likely its words were",
  agreement: "how many samples agree",
  p_true: "asking it whether that is right",
  calibrated: "a calibrator",
};

export const sourceWords = (/** @type {string} */ name) => WORDS[name] ?? name;

/**
 * Offer the server's `sources` in the form; `calibrators` add one more.
 * @param {HTMLFormElement} form
 * @param {string[]} sources
 * @param {Calibrator[]} calibrators
 */
export function offerSources(form, sources, calibrators) {
  const all = calibrators.some((one) => one.fits) && !sources.includes("calibrated") ? ["calibrated", ...sources] : sources;
  const option = (/** @type {string} */ name) => el("option", { value: name }, sourceWords(name));
  choices(form, "confidence_source").replaceChildren(el("option", { value: "" }, "the server’s choice"), ...all.map(option));
  const signals = sources.filter((name) => name !== "calibrated");
  choices(form, "include_signals").replaceChildren(el("option", { value: "" }, "nothing"), ...signals.map(option));
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
const choices = (form, name) => /** @type {HTMLSelectElement} */ (form.elements.namedItem(name));

/**
 * The signals of a reply in one line; "" where it has none.
 * @param {Reply["signals"]} signals
 */
export function signalWords(signals) {
  return Object.entries(signals ?? {})
    .map(([name, { value, missing }]) => `${sourceWords(name)}: ${value === null ? missing ?? "missing" : percent(value)}`)
    .join("; ");
}
