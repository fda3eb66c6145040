// Back, Forward and Reload: each question has an entry in the browser's own history, and what it got stays in this tab.

import { linkOf, readLink } from "./permalink.js";

/** @typedef {{request: Asked, reply: Reply, seconds: number | null}} Kept */

const MOST = 20;
const LONGEST = 400_000;

/**
 * Remember an ended run in this tab.
 * @param {string} id
 * @param {Kept} run
 */
export function keepRun(id, { request, reply, seconds }) {
  const text = JSON.stringify({ request, reply, seconds });
  if (text.length > LONGEST) return;
  const kept = Object.keys(sessionStorage).filter((name) => name.startsWith("run-")).sort();
  for (const old of kept.slice(0, Math.max(0, kept.length - MOST + 1))) sessionStorage.removeItem(old);
  try {
    sessionStorage.setItem(id, text);
  } catch {
    // The tab's store is full: Back shows the question alone.
  }
}

/**
 * A new entry for `request`; its id.
 * @param {Asked} request
 */
export function enter(request) {
  const id = `run-${String(Date.now()).padStart(15, "0")}`;
  history.pushState({ id }, "", `${location.pathname}${location.search}${linkOf(request)}`);
  return id;
}

/**
 * What the address and the tab know of the current entry: each null where there is none.
 * @returns {{run: Kept | null, request: Asked | null}}
 */
export function current() {
  const kept = history.state?.id ? sessionStorage.getItem(history.state.id) : null;
  return { run: kept && JSON.parse(kept), request: readLink(location.hash) };
}
