// An error rate in place of a threshold: what the model's calibrators have certified, and what that says.

import { el, find } from "./dom.js";
import { formOf } from "./request.js";
import { percent } from "./words.js";

export class ErrorRate {
  #root = find("promise");
  #select = find("max-error", HTMLSelectElement);
  /** @type {Level[]} */
  #levels = [];

  /**
   * `onChoose(level)` when the reader chooses a level, or null for the slider alone.
   * @param {{onChoose: (level: Level | null) => void}} events
   */
  constructor({ onChoose }) {
    this.#select.addEventListener("change", () => onChoose(this.chosen));
  }

  /** The level that was chosen, or null. */
  get chosen() {
    return this.#levels.find((_, i) => String(i) === this.#select.value) ?? null;
  }

  /** Go back to the slider. */
  clear() {
    this.#select.value = "";
  }

  /**
   * Choose the offered level of this error rate; the slider where there is none.
   * @param {number | null | undefined} most
   */
  choose(most) {
    const found = this.#levels.findIndex((level) => level.max_error === most);
    this.#select.value = found < 0 ? "" : String(found);
  }

  /**
   * Offer the levels that hold for what `asked` asks, of the model's `calibrators`. Of a reply, `request` is what it
   * answers.
   * @param {Calibrator[] | undefined} calibrators
   * @param {Asked | Reply} asked
   * @param {Asked} request
   */
  offer(calibrators, asked, request) {
    const levels = levelsFor(calibrators, asked, request);
    const same = levels.length === this.#levels.length && levels.every((one, i) => isSame(one, this.#levels[i]));
    if (same) return;
    this.#levels = levels;
    this.#root.hidden = levels.length === 0;
    const options = levels.map((level, i) => el("option", { value: i }, `at most ${percent(level.max_error)} wrong`));
    this.#select.replaceChildren(el("option", { value: "" }, "no promise"), ...options);
  }
}

/**
 * @param {Calibrator[] | undefined} calibrators
 * @param {Asked | Reply} asked
 * @param {Asked} request
 * @returns {Level[]}
 */
function levelsFor(calibrators, asked, request) {
  const granularity = asked.granularity ?? formOf(asked).granularities[0];
  const fits = (/** @type {Calibrator} */ one) => (
    one.fits && (one.contract ?? asked.contract) === asked.contract && one.granularity === granularity
    && one.samples === samplesOf(asked) && isVotedSo(one, request)
  );
  const found = (calibrators ?? []).find((one) => fits(one) && one.levels.length > 0);
  return found ? found.levels.map((level) => ({ ...level, exact: found.exact, delta: found.delta })) : [];
}

/**
 * Whether a request for several samples chooses among them as the graded answers were chosen.
 * @param {Calibrator} one
 * @param {Asked} request
 */
const isVotedSo = ({ samples, selection, stopping }, request) => (
  samples === 1 || (selection === (request.selection ?? "majconf") && stopping === (request.stopping ?? "none"))
);

/**
 * How many samples are asked for, or were.
 * @param {Asked | Reply} asked
 */
export const samplesOf = (asked) => (
  isReply(asked) ? asked.usage.samples_drawn + asked.usage.samples_aborted : asked.samples ?? 1
);

/**
 * @param {Asked | Reply} asked
 * @returns {asked is Reply}
 */
const isReply = (asked) => "usage" in asked;

/**
 * @param {Level} one
 * @param {Level} other
 */
const isSame = (one, other) => one.max_error === other.max_error && one.threshold === other.threshold;

/**
 * What a level means, before anything is asked.
 * @param {Level} level
 * @param {Mode} mode
 */
export function levelWords({ max_error: most, expected_coverage: coverage, exact, delta }, mode = "decide") {
  const share = Math.round(100 * coverage);
  const [answers, them] = mode === "mark"
    ? [`In about ${share} of 100 answers it leaves a step unmarked`, "of such steps, one from each, are wrong"]
    : [`It answers about ${share} in 100`, "of them wrong"];
  if (!exact) return `${answers}; about ${percent(most)} ${them}, by estimate: no promise.`;
  return `${answers}; at most ${percent(most)} ${them}, ${certainty(delta)}.`;
}

/**
 * What the guarantee of a reply says; "" where it has none, or gives no answer that it could be about.
 * @param {Guarantee | null | undefined} guarantee
 * @param {Granularity} granularity
 * @param {Reply["decision"]} decision
 */
export function guaranteeWords(guarantee, granularity = "response", decision = "answer") {
  if (!guarantee || decision !== "answer") return "";
  const given = granularity === "claims" ? "steps not marked so, one from each answer," : "answers given so";
  const { max_error: most, exact, delta, calibration } = guarantee;
  const about = calibration.questions ? ` (${calibration.questions})` : "";
  const from = `${calibration.rows.toLocaleString("en")} graded answers${about}, ${calibration.made.slice(0, 10)}`;
  if (!exact) return `An estimate, no promise: about ${percent(most)} of the ${given} are wrong. From ${from}.`;
  const holds = `At most ${percent(most)} of the ${given} are wrong, ${certainty(delta)}`;
  return `${holds}, for questions like those of ${from}. About other questions nothing is promised.`;
}

/** The chance that a level holds, over the choice of graded answers. */
function certainty(delta) {
  const tenths = Math.round(10 * (1 - delta));
  const round = Math.abs(tenths / 10 - (1 - delta)) < 1e-9 && tenths < 10;
  return round ? `${tenths} times in 10` : `with ${percent(1 - delta)} certainty`;
}
