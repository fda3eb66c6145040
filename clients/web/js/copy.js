// Copying: to the clipboard, or where the browser keeps that from a page, by selecting what is to be copied.

import { el } from "./dom.js";

/**
 * Copy `text`; true if the clipboard took it. Otherwise what `fallback` shows is selected.
 * @param {string} text
 * @param {Element} fallback
 */
export async function copyText(text, fallback) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(fallback);
    return false;
  }
}

/**
 * A button that copies `textOf()` and says so.
 * @param {string} label
 * @param {() => string} textOf
 * @param {() => Element} fallback
 */
export function copyButton(label, textOf, fallback) {
  const button = el("button", { type: "button", class: "copy" }, label);
  button.addEventListener("click", async (event) => {
    event.stopPropagation();
    button.textContent = (await copyText(textOf(), fallback())) ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = label), 2000);
  });
  return button;
}
