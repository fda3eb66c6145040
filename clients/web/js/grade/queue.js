// What the page asks the server: the next item of a queue, and verdicts on it.

import { key } from "../api.js";

/** Why something was not done. `status` is that of the reply, null where none came. */
export class Refusal extends Error {
  /**
   * @param {string} message
   * @param {number | null} status
   */
  constructor(message, status = null) {
    super(message);
    this.status = status;
  }
}

/** {item, progress}: the next item, null where none is left; nobody else gets it. */
export async function take(queue) {
  const { items, progress } = await call(`v1/feedback/queue?queue=${queue}`);
  return { item: items[0] ?? null, progress };
}

/** {progress}: how far it went, without taking anything. */
export function far(queue) {
  return call(`v1/feedback/queue?queue=${queue}&limit=0`);
}

/** A verdict on an item that was taken: `said` is {correct} or {skip}, with {claim} where a step is meant. */
export function say(item, said) {
  return call("v1/feedback", { answer_id: item.answer_id, lease: item.lease, ...said });
}

/** Give an item back as the page goes away. */
export function release(item) {
  const body = { answer_id: item.answer_id, lease: item.lease, skip: "release" };
  request("v1/feedback", body, { keepalive: true }).catch(() => {});
}

async function call(path, body) {
  const response = await request(path, body).catch(() => {
    throw new Refusal("The server cannot be reached. Try again.");
  });
  const reply = await response.json().catch(() => null);
  if (response.ok && reply !== null) return reply;
  throw new Refusal(reply?.error?.message ?? `the server said ${response.status}`, response.status);
}

function request(path, body, options = {}) {
  const headers = key.get() ? { authorization: `Bearer ${key.get()}` } : {};
  const sent = body && { method: "POST", body: JSON.stringify(body) };
  if (body) headers["content-type"] = "application/json";
  return fetch(new URL(path, document.baseURI), { cache: "no-store", headers, ...sent, ...options });
}
