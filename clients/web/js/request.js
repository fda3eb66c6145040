// The form as a request. What the reader left alone is left out: the server's and the model's defaults hold.

const NUMBERS = ["samples", "max_tokens", "temperature", "seed"];

/** What the served contracts can be asked for, by name, as /v1/models says. */
let forms = {};

export const setForms = (cards) => (forms = cards);

/** What the contract of a request or reply can be asked for. */
export const formOf = ({ contract }) => (
  forms[contract] ?? { granularities: ["response"], states_confidence: true, states_threshold: false }
);

/** The question of a request, the last one of a conversation. */
export const questionOf = ({ question, messages }) => question ?? messages.at(-1).content;

/** What a program would send for the same answer; `bar` is {risk_threshold} or {max_error}. */
export function buildRequest(form, question, bar, before = []) {
  const fields = new FormData(form);
  const asked = before.length > 0 ? { messages: [...before, { role: "user", content: question }] } : { question };
  const request = { ...asked, contract: fields.get("contract"), ...bar };
  if (formOf(request).granularities.length > 1) copy(fields, request, ["granularity", "aggregation"]);
  for (const name of NUMBERS) if (fields.get(name)) request[name] = Number(fields.get(name));
  if ((request.samples ?? 1) > 1) copy(fields, request, ["selection", "stopping"]);
  copy(fields, request, ["confidence_source"]);
  if (fields.get("include_signals")) request.include_signals = [fields.get("include_signals")];
  if (fields.get("include_token_values")) request.include_token_values = true;
  return request;
}

/** What the threshold of a request or reply does: "decide" about all of it, "mark" steps, or "tell" the model. */
export function modeOf(asked) {
  const form = formOf(asked);
  if (form.states_threshold) return "tell";
  return (asked.granularity ?? form.granularities[0]) === "claims" ? "mark" : "decide";
}

/** Whether the answer can be shown while it is written: nothing of it can be withheld by a threshold that was asked. */
export function isLive(request, form) {
  if ((request.samples ?? 1) > 1 || !form.states_confidence) return false;
  return request.risk_threshold === 0 || modeOf(request) === "mark";
}

/** Show the options that mean something for what is chosen, and for what the server has. */
export function showOptions(form, { critic, sources }) {
  const fields = new FormData(form);
  const claims = formOf({ contract: fields.get("contract") }).granularities.includes("claims");
  const meant = { claims, samples: Number(fields.get("samples")) > 1, critic, sources };
  for (const option of form.querySelectorAll("[data-for]")) option.hidden = !meant[option.dataset.for];
}

/** Put `request` back into the form: what it does not name goes back to its default. */
export function fillForm(form, request) {
  for (const field of form.elements) {
    if (!field.name || field.id === "question") continue;
    const value = request[field.name];
    if (field.type === "radio") field.checked = value === undefined ? field.checked : field.value === value;
    else if (value !== undefined) field.value = String(value);
    else if (field.tagName === "SELECT") field.selectedIndex = 0;
    else field.value = "";
  }
}

function copy(fields, request, names) {
  for (const name of names) if (fields.get(name)) request[name] = fields.get(name);
}
