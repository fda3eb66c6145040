// The form as a request. What the reader left alone is left out: the server's and the model's defaults hold.

const NUMBERS = ["samples", "max_tokens", "temperature", "seed"];

/** What a program would send for the same answer. */
export function buildRequest(form, question, t) {
  const fields = new FormData(form);
  const contract = fields.get("contract");
  const request = { question, contract, risk_threshold: t };
  if (contract === "claims") copy(fields, request, ["granularity", "aggregation"]);
  for (const name of NUMBERS) if (fields.get(name)) request[name] = Number(fields.get(name));
  if ((request.samples ?? 1) > 1) copy(fields, request, ["selection", "stopping"]);
  if (fields.get("include_token_values")) request.include_token_values = true;
  return request;
}

/** Whether the answer can be shown while it is written: nothing of it can be withheld by a threshold that was asked. */
export function isLive({ contract, granularity, risk_threshold, samples = 1 }) {
  if (samples > 1 || contract === "explicit_risk") return false;
  return risk_threshold === 0 || (contract === "claims" && granularity === "claims");
}

/** Show the options that mean something for what is chosen, and for what the server has. */
export function showOptions(form, { critic }) {
  const fields = new FormData(form);
  const samples = Number(fields.get("samples")) > 1;
  const meant = { claims: fields.get("contract") === "claims", samples, critic };
  for (const option of form.querySelectorAll("[data-for]")) option.hidden = !meant[option.dataset.for];
}

function copy(fields, request, names) {
  for (const name of names) if (fields.get(name)) request[name] = fields.get(name);
}
