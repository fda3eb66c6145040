// Behind the badge: how far the model's confidence was found to be true, and on what.

import { el, find, setText } from "./dom.js";
import { reliabilityPicture } from "./reliability.js";
import { formOf } from "./request.js";
import { formWords, percent } from "./words.js";

const HOW = "demur calibrate makes a calibrator for any model from some hundred of your own graded answers.";

/**
 * Show name and badge of the served `model`; the badge opens the card.
 * @param {Model} model
 */
export function showTrust({ id, calibrated, measured, calibrators, contract_cards: cards }) {
  const card = find("trust");
  const badge = el("button", {
    type: "button", class: calibrated ? "badge" : "badge warn", "aria-expanded": "false", "aria-controls": "trust",
    onclick: () => {
      card.hidden = !card.hidden;
      badge.setAttribute("aria-expanded", String(!card.hidden));
    },
  }, calibrated ? "calibrated" : "not calibrated");
  find("model").replaceChildren(el("span", { class: "model-name" }, id), badge);
  card.replaceChildren(...content(calibrated, Object.entries(measured), unmeasured(cards, measured)));
  const known = calibrators.find((one) => one.fits && one.questions)?.questions;
  setText(find("known"), known ? `Checked on ${known}. About anything else it can be far too sure of itself.` : "");
}

/**
 * @param {boolean} calibrated
 * @param {[string, Measured][]} measured
 * @param {string} others
 */
function content(calibrated, measured, others) {
  const title = el("h2", {}, calibrated ? "Its confidence was checked" : "Its confidence is only a claim");
  if (measured.length > 0) return [title, ...measured.map(([contract, found]) => figure(contract, found)), limits(others)];
  const text = calibrated
    ? "Whoever made this model says that its confidences come true. It brings no figures that could be shown here."
    : "Nobody has checked how often this model is right when it says that it is sure.";
  return [title, el("p", {}, text), el("p", {}, el("code", {}, HOW.slice(0, 15)), HOW.slice(15))];
}

/** @param {string} others */
const limits = (others) => el("p", { class: "because" },
  `This holds for questions like those, asked in that way and answered once; not for ${others}. ` +
  "On other kinds of questions it can be far too sure of itself.");

/**
 * The ways of asking that have no figures, in words.
 * @param {Model["contract_cards"]} cards
 * @param {Model["measured"]} measured
 */
function unmeasured(cards, measured) {
  const names = Object.keys(cards).filter((name) => !measured[name]).map((name) => `“${formWords(cards[name]).name}”`);
  return [...names, "several samples"].join(", ").replace(/, ([^,]*)$/, " and $1");
}

/**
 * @param {string} contract
 * @param {Measured} found
 */
function figure(contract, found) {
  const how = formWords(formOf({ contract })).name.toLowerCase();
  const facts = [
    `${found.answers.toLocaleString("en")} answers to ${found.on}, ${found.date}; asked: ${how}.`,
    found.auc && `Given one right and one wrong answer, it is surer of the right one ${chance(found.auc)} (AUC).`,
    found.smece && `A stated confidence is off by ${percent(round(found.smece.value))} on average (smooth calibration error).`,
  ];
  const picture = found.reliability.length > 0 ? reliabilityPicture(found.reliability) : null;
  return el("figure", {}, picture,
    el("figcaption", {}, ...facts.map((fact) => fact && el("p", {}, fact))));
}

/** @param {number} value */
const round = (value) => Math.round(1000 * value) / 1000;

/** @param {{value: number, low: number, high: number}} interval */
const chance = ({ value, low, high }) => (
  `${Math.round(100 * value)} times in 100 [${Math.round(100 * low)} to ${Math.round(100 * high)}]`
);
