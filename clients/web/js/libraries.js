// The libraries for maths and Markdown. They come after the page is there, with the first question.

import { makeParser } from "./markdown.js";

/**
 * Both once they are loaded.
 * @type {{temml: Temml | null, parser: any}}
 */
export const libraries = { temml: null, parser: null };

/** @type {Promise<[{default: any}, {default: any}]> | null} */
let loading = null;

/** Load both; true when they are there. One that did not come is asked for again by the next text that needs it. */
export async function loadLibraries() {
  loading ??= Promise.all([import("../vendor/temml.js"), import("../vendor/markdown-it.js")]);
  try {
    const [{ default: temml }, { default: markdownIt }] = await loading;
    libraries.temml ??= temml;
    libraries.parser ??= makeParser(markdownIt);
    return true;
  } catch {
    loading = null;
    return false;
  }
}
