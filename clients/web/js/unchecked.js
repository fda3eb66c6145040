// What nobody has checked about the number beside an answer.

import { formOf } from "./request.js";
import { formWords } from "./words.js";

/** @type {string[]} */
let measured = [];

/**
 * Which contracts the served model brings figures for.
 * @param {Model["measured"]} figures
 */
export function setMeasured(figures) {
  measured = Object.keys(figures);
}

/**
 * Why nobody has checked the number; of a model that was checked, what its figures do not speak of. What a calibrator
 * has made was checked.
 * @param {Reply} reply
 */
export function unchecked({ calibrated, notice, samples, contract, confidence_source: source }) {
  if (!calibrated) {
    return notice ?? "Not calibrated: nobody has checked this model’s confidences against how often it is right.";
  }
  if (source === "calibrated" || source === "none") return "";
  if (samples) return "This model was checked on single answers: nobody has checked how often the winner of a vote is right.";
  if (measured.length === 0 || measured.includes(contract)) return "";
  return `No figures here say how true its confidence is when it answers “${formWords(formOf({ contract })).name}”.`;
}
