// The button under a failure. After a 429 it counts down what the server asked for.

import { el, setText } from "./dom.js";

/**
 * `wait` in seconds, null for none.
 * @param {number | null} wait
 * @param {() => void} onClick
 */
export function retryButton(wait, onClick) {
  const button = el("button", { type: "button", onclick: onClick }, "Ask again");
  if (wait) countDown(button, wait);
  return button;
}

/**
 * @param {HTMLButtonElement} button
 * @param {number} seconds
 */
function countDown(button, seconds) {
  button.disabled = seconds > 0;
  setText(button, seconds > 0 ? `Ask again in ${seconds} s` : "Ask again");
  if (seconds > 0) setTimeout(() => countDown(button, seconds - 1), 1000);
}
