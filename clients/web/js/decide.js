// Moving the risk threshold of an answer that is already here: abstain if and only if confidence < t.

/**
 * `reply` at the threshold `t`, without the guarantee that only its own threshold has, or {refused: "explicit_risk"}
 * when the threshold was part of the prompt, or {refused: "withheld"} when it would be answered with text that never came.
 * @param {Reply} reply
 * @param {number} t
 * @returns {Moved}
 */
export function redecide(reply, t) {
  if (isToldRisk(reply)) return { refused: "explicit_risk" };
  if (t !== reply.risk_threshold && reply.guarantee) return redecide({ ...reply, guarantee: null }, t);
  const content = contentOf(reply, t);
  const reason = reasonAt(reply, content, t);
  if (reason !== null) return abstaining(reply, t, reason, content);
  if (content === null) return { refused: "withheld" };
  return { ...reply, ...content, risk_threshold: t, decision: "answer", reason: null, withheld: null };
}

/**
 * The lowest threshold the reply can be moved to: above 0 where what it withholds never came.
 * @param {Reply} reply
 */
export function lowest(reply) {
  return redecide(reply, 0).refused === "withheld" ? reply.risk_threshold : 0;
}

/**
 * Whether the model itself weighed the risk, so that there is no number to hold against a threshold.
 * @param {Pick<Reply, "confidence_source">} reply
 */
export const isToldRisk = (reply) => reply.confidence_source === "none";

/**
 * @param {number | null} confidence
 * @param {number} t
 */
export const isBelow = (confidence, t) => confidence === null || confidence < t;

/** @typedef {Pick<Reply, "answer" | "text" | "claims">} Content */

/**
 * @param {Reply} reply
 * @param {number} t
 * @returns {Content | null}
 */
function contentOf(reply, t) {
  const held = reply.decision === "answer" ? reply : reply.withheld;
  return held ? { answer: held.answer, text: held.text, claims: marked(held.claims, t) } : null;
}

/**
 * Why to abstain at t, null to answer: the same questions in the same order as the server's.
 * @param {Reply} reply
 * @param {Content | null} content
 * @param {number} t
 * @returns {Reply["reason"]}
 */
function reasonAt(reply, content, t) {
  if (isUnanswerable(reply, content) || reply.granularity === "claims") return reply.reason;
  if (t <= 0) return null;
  if (reply.confidence === null) return reply.reason ?? missingConfidence(content);
  return reply.confidence < t ? "below_threshold" : null;
}

/**
 * Whether the model gave no answer at all, which no threshold changes.
 * @param {Reply} reply
 * @param {Content | null} content
 */
function isUnanswerable(reply, content) {
  if (reply.reason === "answer_missing" || reply.reason === "idk") return true;
  const cutBeforeAnswer = reply.reason === "truncated" && reply.confidence !== null;
  return cutBeforeAnswer || (content !== null && content.answer === null);
}

/**
 * What was answered at t = 0 does not say whether its confidence was absent or unreadable; claims do.
 * @param {Content | null} content
 */
function missingConfidence(content) {
  return content?.claims?.length ? "confidence_invalid" : "confidence_missing";
}

/**
 * @param {Claim[] | null} claims
 * @param {number} t
 * @returns {Claim[] | null}
 */
const marked = (claims, t) => claims && claims.map((claim) => ({ ...claim, decision: mark(claim, t) }));

/**
 * @param {Claim} claim
 * @param {number} t
 * @returns {Claim["decision"]}
 */
const mark = (claim, t) => (isBelow(claim.confidence, t) ? "highlight" : "assert");

/**
 * As the server: one sample keeps its text where a stream would have shown it before the decision.
 * @param {Reply} reply
 * @param {number} t
 * @param {Reply["reason"]} reason
 * @param {Content | null} withheld
 * @returns {Reply}
 */
function abstaining(reply, t, reason, withheld) {
  const read = withheld ?? { text: reply.text, claims: marked(reply.claims, t) };
  const live = reply.samples === null && (reply.granularity === "claims" || t <= 0);
  const kept = live && Boolean(read.text || read.claims?.length);
  const shown = { answer: null, text: kept ? read.text : null, claims: kept ? read.claims : null };
  const kind = /** @type {const} */ ("abstain");
  return { ...reply, ...shown, risk_threshold: t, decision: kind, reason, withheld: /** @type {Reply["withheld"]} */ (withheld) };
}
