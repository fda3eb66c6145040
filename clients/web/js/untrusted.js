// Text that a model wrote, put into the page as text. Characters that nobody sees but that change what is read
// (bidirectional controls, zero-width and other control characters) are shown by their code points.

const INVISIBLE =
  "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b" +
  "\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb" +
  "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
const RUNS = new RegExp(`([${INVISIBLE}])\\1*`, "gu");
const ANY = new RegExp(`[${INVISIBLE}]`, "u");
const EACH = new RegExp(`[${INVISIBLE}]`, "gu");

/** @type {Record<string, string>} */
const NAMES = {
  "\u00ad": "soft hyphen",
  "\u034f": "combining grapheme joiner",
  "\u2800": "blank Braille pattern",
  "\u3164": "Hangul filler",
  "\u200b": "zero-width space",
  "\u200e": "left-to-right mark",
  "\u200f": "right-to-left mark",
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "end of a direction",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "end of an isolate",
};

export const hasInvisible = (/** @type {string} */ text) => ANY.test(text);

/**
 * `text` with `escape(character)` for each invisible one.
 * @param {string} text
 * @param {(character: string) => string} escape
 */
export const escapeInvisible = (text, escape) => text.replace(EACH, escape);

/**
 * Append `text` to `parent`.
 * @param {Node & ParentNode} parent
 * @param {string} text
 */
export function appendUntrusted(parent, text) {
  const shown = text.replace(/\r\n?/g, "\n");
  let at = 0;
  for (const run of shown.matchAll(RUNS)) {
    parent.append(shown.slice(at, run.index), invisible(run[1], run[0].length / run[1].length));
    at = run.index + run[0].length;
  }
  parent.append(shown.slice(at));
}

/**
 * @param {string} char
 * @param {number} count
 */
function invisible(char, count) {
  const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const mark = document.createElement("span");
  mark.className = "invisible";
  mark.title = `${NAMES[char] ?? "an invisible character"} that the model wrote`;
  mark.textContent = count > 1 ? `${code}×${count}` : code;
  return mark;
}
