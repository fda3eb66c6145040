// How a vote between samples is weighed, for the page to say it: by the name of the selection rule.

import { count, percent } from "./words.js";

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
/** @param {Sample} sample */
const sure = ({ confidence }) => confidence ?? 0;
/** @param {number} number */
const points = (number) => number.toFixed(2);

const SUREST = "The answer is as sure as the surest of its samples.";
/** What is said in place of a rule's `sure` where samples do not vote with the confidence that decides. */
const ELSEWHERE = new Map([
  ["calibrated", "Its confidence was calibrated on graded answers."],
  ["agreement", "It is as sure as the share of the other samples that agree."],
  ["p_true", ""],
]);

/**
 * weight(member) is what one sample counts; why(own, others, drawn) is the sentence for the chosen group, `sure` that
 * for its confidence.
 * @typedef {Sample & {weight: number}} Voter
 * @typedef {{group: Group, members: Voter[], total: number}} Weighed
 * @typedef {(own: Weighed, others: Weighed[], drawn: number) => string} Why
 * @typedef {{weight: (one: Sample) => number, why: Why, sure: string}} Rule
 * @type {Record<string, Rule>}
 */
const RULES = {
  majconf: {
    weight: sure,
    why: (own, others) => `Each vote weighs as much as its confidence. The chosen answer’s add up to ${points(own.total)}` +
      `${others.length > 0 ? `, the next one’s to ${points(Math.max(...others.map((group) => group.total)))}` : ""}.`,
    sure: SUREST,
  },
  majority: {
    weight: () => 1,
    why: (own, others, drawn) => `Each sample has one vote. ${own.members.length} of ${count(drawn, "sample")} gave the chosen answer.`,
    sure: "It is as sure as they are in the middle (the mean of their log odds).",
  },
  maxconf: {
    weight: sure,
    why: (own) => `The surest sample decides. Here it is ${percent(Math.max(...own.members.map(sure)))} sure.`,
    sure: SUREST,
  },
};

/** @type {Rule} */
const PLAIN = { weight: () => 1, why: () => "", sure: "" };

/**
 * The groups of a vote with their members and weights, why the chosen one won, and how sure it is by `source`.
 * @param {Samples} samples
 * @param {string} rule
 * @param {string} source
 */
export function weigh({ groups, members, drawn }, rule, source) {
  const { weight, why, sure: ofSamples } = RULES[rule] ?? PLAIN;
  const weighed = groups.map((group) => {
    const own = members.filter((member) => group.members.includes(member.id)).map((one) => ({ ...one, weight: weight(one) }));
    return { group, members: own, total: sum(own.map((one) => one.weight)) };
  });
  const chosen = weighed.find(({ group }) => group.chosen);
  const others = weighed.filter((one) => one !== chosen);
  const words = chosen ? [why(chosen, others, drawn), ELSEWHERE.get(source) ?? ofSamples] : [];
  return { groups: weighed, total: sum(weighed.map((one) => one.total)), why: words.filter(Boolean).join(" ") };
}
