// What the page says about an answer.

import { isBelow, isToldRisk } from "./decide.js";

/**
 * A probability as people read it. What is not certain is never rounded to certainty.
 * @param {number | null} p
 */
export function percent(p) {
  if (p === null) return "no number";
  const rounded = Number((100 * p).toPrecision(3));
  if (rounded === 100 && p < 1) return ">99.9%";
  if (rounded === 0 && p > 0) return "<0.1%";
  return `${rounded}%`;
}

/**
 * @param {number} number
 * @param {string} one
 * @param {string} many
 */
export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/**
 * What to call a way of answering, from what it can be asked for.
 * @param {ContractCard} card
 */
export function formWords({ granularities, states_threshold: told, states_confidence: sure }) {
  if (granularities.includes("claims")) return { name: "Step by step", about: "each step says how sure it is" };
  if (told || !sure) return { name: "Told the risk", about: "the model decides; no number" };
  return { name: "As a whole", about: "one confidence for the answer" };
}

/**
 * What the slider does, before and after its number.
 * @type {Record<Mode, [string, string]>}
 */
export const SLIDER = {
  decide: ["Answer only if at least", "sure"],
  mark: ["Mark steps that are less than", "sure"],
  tell: ["Tell it to answer only if at least", "sure"],
};

/**
 * The headline over an answer's verdict.
 * @param {Reply} reply
 */
export function headline({ decision, reason, granularity, confidence, risk_threshold: t }) {
  if (decision === "answer") return granularity === "claims" && isBelow(confidence, t) ? "Doubtful answer" : "Answer";
  if (reason === "answer_missing" || reason === "truncated") return "No readable answer";
  return "No answer";
}

/**
 * The decision in a few words, for who cannot see it.
 * @param {Reply} reply
 */
export function spoken(reply) {
  const sure = reply.confidence === null ? "" : `${percent(reply.confidence)} sure.`;
  return join(`${headline(reply)}.`, sure, explanation(reply));
}

/**
 * Why the decision is what it is: one or two sentences.
 * @param {Reply} reply
 */
export function explanation(reply) {
  if (isToldRisk(reply)) return explicitRisk(reply);
  return reply.decision === "answer" ? answered(reply) : abstained(reply);
}

/** @param {Reply} reply */
function answered(reply) {
  const asked = percent(reply.risk_threshold);
  if (reply.confidence === null && reply.granularity === "response") {
    return "The model gave no readable confidence. At 0% you accept an answer that nothing vouches for.";
  }
  if (reply.granularity === "response") return join(how(reply), `You asked for at least ${asked}.`);
  const claims = reply.claims ?? [];
  const doubted = claims.filter((claim) => isBelow(claim.confidence, reply.risk_threshold)).length;
  const steps = claims.length;
  if (doubted === 0) return join(how(reply), `${every(steps)} the ${asked} you asked for.`);
  const below = `${doubted} of ${count(steps, "step")} ${doubted === 1 ? "is" : "are"} below the ${asked}`;
  return join(how(reply), `${below} you asked for: marked, with the reason.`);
}

/**
 * Where the confidence of the whole comes from, if it has parts.
 * @param {Pick<Reply, "confidence" | "aggregation">} reply
 */
function how({ confidence, aggregation }) {
  if (!aggregation) return "";
  if (confidence === null) return "One step has no readable confidence, so the whole has none.";
  return { min: "As sure as its weakest step.", product: "All its steps multiplied." }[aggregation] ?? "";
}

/** @param {string[]} sentences */
const join = (...sentences) => sentences.filter(Boolean).join(" ");

const every = (steps) => (steps === 1 ? "Its one step reaches" : `All ${steps} steps reach`);

/** @param {Pick<Reply, "reason" | "confidence" | "risk_threshold" | "aggregation">} reply */
function abstained({ reason, confidence, risk_threshold, aggregation }) {
  const asked = percent(risk_threshold);
  /** @type {Record<string, string>} */
  const sentences = {
    below_threshold: join(how({ confidence, aggregation }), `You asked for at least ${asked}: what it wrote is withheld.`),
    confidence_missing: "The model did not say how sure it is, so nothing vouches for what it wrote.",
    confidence_invalid: "What the model gave as its confidence is not a probability: nothing vouches for its answer.",
    answer_missing: "The model's output holds no answer that can be read.",
    truncated: "The output was cut off at the token limit before it was complete. A larger limit may help.",
  };
  return sentences[reason ?? ""] ?? `The server gives the reason “${reason}”.`;
}

/** @param {Reply} reply */
function explicitRisk({ decision, reason, risk_threshold }) {
  const asked = percent(risk_threshold);
  if (decision === "answer") return `The model was told to answer only if at least ${asked} sure, and it answered.`;
  if (reason === "idk") return `The model was told to answer only if at least ${asked} sure, and it declined.`;
  return abstained({ reason, confidence: null, risk_threshold, aggregation: null });
}

/** @type {Record<string, string>} */
const PROBLEMS = {
  clipped: "The number it wrote lies outside 0 to 100% and was cut to fit.",
  rescaled: "The number was read as a percentage.",
  unclosed: "The model never closed this step.",
  not_a_number: "What the model wrote as its confidence is not a number.",
  out_of_range: "What the model wrote as its confidence is not a probability.",
  range: "The model wrote a range or a bound as its confidence, not one number.",
  several: "The model wrote several different numbers as its confidence.",
  not_understood: "What the model wrote as its confidence holds more than a number, and it is not clear what.",
  scale_unclear: "It is not clear on which scale the model's number counts.",
  confidence_missing: "The model gave no confidence for this step.",
  empty: "The step holds no text.",
};

/**
 * What was odd about how a claim was written.
 * @param {Claim} claim
 */
export const problemsOf = (claim) => claim.problems.map((name) => PROBLEMS[name] ?? `Remark of the reader: ${name}.`);

/**
 * Why sampling stopped before its end.
 * @param {Samples} samples
 */
export function settledBy({ stopped_by: by }) {
  /** @type {Record<string, string>} */
  const words = {
    decided: "no other answer could win any more",
    confident: "another answer could hardly win any more",
  };
  return words[by ?? ""] ?? `stopped by “${by}”`;
}

/**
 * What went wrong, for people.
 * @param {import("./api.js").Failure} failure
 * @param {boolean} partial
 */
export function failureWords({ kind, status, message, param }, partial) {
  const unfinished = partial ? " What is shown so far is unfinished and was never decided: do not rely on it." : "";
  if (kind === "stopped") return { title: "Stopped", text: `You stopped it before there was an answer.${unfinished}` };
  if (kind === "lost") {
    const gone = "The server went away before the answer was there.";
    return { title: "The connection broke off", text: `${gone}${unfinished}` };
  }
  if (status === 429) return { title: "The server is busy", text: "It is answering as many questions as it can." };
  const about = param ? ` (${param})` : "";
  return { title: "The server could not answer", text: `It says: ${message}${about}.${unfinished}` };
}

/**
 * What the answer took, for who pays for it.
 * @param {Reply} reply
 * @param {number | null} seconds
 */
export function cost({ usage }, seconds) {
  const tokens = usage?.completion_tokens ? count(usage.completion_tokens, "token") : "";
  return [tokens, seconds === null ? "" : `${seconds.toFixed(1)} s`].filter(Boolean).join(", ");
}
