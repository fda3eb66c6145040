// A question and its settings in the address, behind the "#": no server sees that. Never an answer, never a key.

/** What a link may hold; anything else in it is left alone. */
const FIELDS = {
  question: "string", contract: "string", granularity: "string", aggregation: "string", selection: "string",
  stopping: "string", confidence_source: "string", risk_threshold: "number", max_error: "number", samples: "number",
  max_tokens: "number", temperature: "number", seed: "number",
};
const LONGEST = 8000;

/**
 * The fragment for `request`; "" where it would be too long, or holds a conversation.
 * @param {Asked} request
 */
export function linkOf(request) {
  const kept = Object.entries(request).filter(([name]) => name in FIELDS);
  const link = `#${new URLSearchParams(kept.map(([name, value]) => [name, String(value)]))}`;
  return request.question && link.length <= LONGEST ? link : "";
}

/**
 * The request in a fragment, or null.
 * @param {string} fragment
 * @returns {Asked | null}
 */
export function readLink(fragment) {
  const given = new URLSearchParams(fragment.slice(1));
  /** @type {Record<string, any> & Asked} */
  const request = {};
  for (const [name, kind] of Object.entries(FIELDS)) {
    const value = given.get(name);
    if (value === null || value === "") continue;
    if (kind === "string") request[name] = value;
    else if (Number.isFinite(Number(value))) request[name] = Number(value);
  }
  return request.question ? request : null;
}
