// What the page asks the server: is it ready, what does it serve, an answer as events.

import { Decoder } from "./sse.js";

/** Why there is no answer. `kind`: "refused" (an error reply), "lost" (no or half a reply), "stopped" (by the user). */
export class Failure extends Error {
  /**
   * @param {"refused" | "lost" | "stopped"} kind
   * @param {string} message
   * @param {{status?: number | null, param?: string | null, retryAfter?: number | null}} [about]
   */
  constructor(kind, message, { status = null, param = null, retryAfter = null } = {}) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.param = param;
    this.retryAfter = retryAfter;
  }
}

/** The caller's key, for servers that ask for one: it stays in this tab, and goes when the tab is closed. */
export const key = {
  get: () => sessionStorage.getItem("key") ?? "",
  set: (text) => sessionStorage.setItem("key", text),
};

const at = (path) => new URL(path, document.baseURI);

/**
 * `message` is what the server says, if it says anything.
 * @returns {Promise<{state: "ready" | "loading" | "unreachable", message?: string}>}
 */
export async function readiness() {
  try {
    const response = await fetch(at("ready"), { cache: "no-store" });
    if (response.ok || response.status === 429) return { state: "ready" };
    return { state: "loading", message: (await response.json().catch(() => null))?.error?.message };
  } catch {
    return { state: "unreachable" };
  }
}

/**
 * The one model: {id, calibrated, contracts, risk_threshold, …}.
 * @returns {Promise<Model>}
 */
export async function servedModel() {
  const response = await fetch(at("v1/models"), { cache: "no-store", headers: shown() });
  if (!response.ok) throw await refusal(response);
  const [{ id, demur }] = (await response.json()).data;
  return { id, ...demur };
}

/**
 * Ask, and give every event but the last to `onEvent(name, data)`; the last is the reply that is returned.
 * Throws a Failure for everything else; `signal` stops it.
 * @param {Asked} request
 * @param {{signal?: AbortSignal, onEvent: (name: string, data: any) => void}} options
 * @returns {Promise<Reply>}
 */
export async function ask(request, { signal, onEvent }) {
  try {
    const response = await post("v1/answers", { ...request, stream: true }, signal);
    if (!response.ok) throw await refusal(response);
    return await lastEvent(response.body, onEvent);
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (signal?.aborted) throw new Failure("stopped", "stopped");
    throw new Failure("lost", error instanceof Error ? error.message : String(error));
  }
}

/** @returns {Record<string, string>} */
const shown = () => (key.get() ? { authorization: `Bearer ${key.get()}` } : {});

function post(path, body, signal) {
  const headers = { "content-type": "application/json", ...shown() };
  return fetch(at(path), { method: "POST", headers, body: JSON.stringify(body), signal });
}

async function lastEvent(body, onEvent) {
  const decoder = new Decoder();
  const reader = body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    for (const { event, data } of decoder.feed(piece.value)) {
      const value = JSON.parse(data);
      if (event === "answer") return value;
      if (event === "error") throw fromError(value.error ?? value);
      onEvent(event, value);
    }
  }
  throw new Failure("lost", "the stream ended before the answer");
}

/** An error reply; one that is not in the API's shape comes from something in between. */
async function refusal(response) {
  const options = { status: response.status, retryAfter: seconds(response.headers.get("retry-after")) };
  try {
    return fromError((await response.json()).error, options);
  } catch {
    return new Failure("refused", `the server said ${response.status} ${response.statusText}`.trim(), options);
  }
}

function fromError({ message, param }, options = {}) {
  return new Failure("refused", String(message), { ...options, param: param ?? null });
}

/** Retry-After is a number of seconds or a date. */
function seconds(header) {
  if (header === null) return null;
  const number = Number(header);
  const wait = Number.isNaN(number) ? (Date.parse(header) - Date.now()) / 1000 : number;
  return Number.isNaN(wait) ? null : Math.max(0, Math.ceil(wait));
}
