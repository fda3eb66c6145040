// The form as a request. What the reader left alone is left out: the server's and the model's defaults hold.

import { find, setText } from "./dom.js";

const NUMBERS = ["samples", "max_tokens", "temperature", "seed"];

/**
 * What the served contracts can be asked for, by name, as /v1/models says.
 * @type {Record<string, ContractCard>}
 */
let forms = {};

export const setForms = (/** @type {Record<string, ContractCard>} */ cards) => (forms = cards);

/**
 * What the contract of a request or reply can be asked for.
 * @param {{contract?: string}} asked
 * @returns {ContractCard}
 */
export const formOf = ({ contract }) => (
  forms[contract ?? ""] ?? { granularities: ["response"], states_confidence: true, states_threshold: false }
);

/**
 * The question of a request, the last one of a conversation.
 * @param {Pick<Asked, "question" | "messages">} asked
 * @returns {string}
 */
export const questionOf = ({ question, messages }) => question ?? messages?.at(-1)?.content ?? "";

/**
 * What a program would send for the same answer.
 * @param {HTMLFormElement} form
 * @param {string} question
 * @param {Bar} bar
 * @param {Message[]} before
 * @returns {Asked}
 */
export function buildRequest(form, question, bar, before = []) {
  const fields = new FormData(form);
  /** @type {Message} */
  const last = { role: "user", content: question };
  const asked = before.length > 0 ? { messages: [...before, last] } : { question };
  /** @type {Record<string, any> & Asked} */
  const request = { ...asked, contract: String(fields.get("contract")), ...bar };
  if (formOf(request).granularities.length > 1) copy(fields, request, ["granularity", "aggregation"]);
  for (const name of NUMBERS) if (fields.get(name)) request[name] = Number(fields.get(name));
  if ((request.samples ?? 1) > 1) copy(fields, request, ["selection", "stopping"]);
  copy(fields, request, ["confidence_source"]);
  if (fields.get("include_signals")) request.include_signals = [fields.get("include_signals")];
  if (fields.get("include_token_values")) request.include_token_values = true;
  return request;
}

/**
 * What the threshold of a request or reply does: "decide" about all of it, "mark" steps, or "tell" the model.
 * @param {Asked | Reply} asked
 * @returns {Mode}
 */
export function modeOf(asked) {
  const form = formOf(asked);
  if (form.states_threshold) return "tell";
  return (asked.granularity ?? form.granularities[0]) === "claims" ? "mark" : "decide";
}

/**
 * Whether the answer can be shown while it is written: nothing of it can be withheld by a threshold that was asked.
 * @param {Asked} request
 * @param {ContractCard} form
 */
export function isLive(request, form) {
  if ((request.samples ?? 1) > 1 || !form.states_confidence) return false;
  return request.risk_threshold === 0 || modeOf(request) === "mark";
}

/**
 * Show the options that mean something for what is chosen, and for what the server has.
 * @param {HTMLFormElement} form
 * @param {{critic: boolean, sources: boolean}} has
 */
export function showOptions(form, { critic, sources }) {
  const fields = new FormData(form);
  const claims = formOf({ contract: String(fields.get("contract")) }).granularities.includes("claims");
  /** @type {Record<string, boolean>} */
  const meant = { claims, samples: Number(fields.get("samples")) > 1, critic, sources };
  for (const option of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-for]"))) {
    option.hidden = !meant[option.dataset.for ?? ""];
  }
  setText(find("options-set"), meant.samples ? `: asks ${Number(fields.get("samples"))} times` : "");
}

/**
 * Put `request` back into the form: what it does not name goes back to its default.
 * @param {HTMLFormElement} form
 * @param {Record<string, any>} request
 */
export function fillForm(form, request) {
  for (const field of form.elements) {
    const isSelect = field instanceof HTMLSelectElement;
    if (!(isSelect || field instanceof HTMLInputElement) || !field.name) continue;
    const value = request[field.name];
    if (field.type === "radio") fillChoice(/** @type {HTMLInputElement} */ (field), value);
    else if (value !== undefined) field.value = String(value);
    else if (isSelect) field.selectedIndex = 0;
    else field.value = "";
  }
}

/**
 * @param {HTMLInputElement} choice
 * @param {unknown} value
 */
function fillChoice(choice, value) {
  if (value !== undefined) choice.checked = choice.value === value;
}

/**
 * @param {FormData} fields
 * @param {Record<string, any>} request
 * @param {string[]} names
 */
function copy(fields, request, names) {
  for (const name of names) if (fields.get(name)) request[name] = fields.get(name);
}
