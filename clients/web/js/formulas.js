// Where the maths is in a text: LaTeX between $…$, $$…$$, \(…\), \[…\], in an environment, or in \boxed{…}.

const LONGEST = 2000;
/** Characters of one formula: no start is followed further, so that all of a text takes time in its length alone. */

const ENVIRONMENT = /\\begin\{([a-z]{1,12}\*?)\}/y;
const BOXED = /\\boxed\{/y;

/**
 * The formula that begins at `at`, or null.
 * @param {string} text
 * @param {number} at
 * @returns {Formula & {end: number} | null}
 */
export function formulaAt(text, at) {
  if (text[at] === "$") return text[at + 1] === "$" ? between(text, at, "$$", "$$", true) : inline(text, at);
  if (text[at] !== "\\") return null;
  if (text[at + 1] === "[") return between(text, at, "\\[", "\\]", true);
  if (text[at + 1] === "(") return between(text, at, "\\(", "\\)", false);
  return environment(text, at) ?? boxed(text, at);
}

/**
 * Formulas and what stands between them, in order; joined, the texts are `text`.
 * @param {string} text
 * @returns {({text: string} & Partial<Formula>)[]}
 */
export function splitFormulas(text) {
  const pieces = [];
  let [from, at] = [0, 0];
  while (at < text.length) {
    const found = formulaAt(text, at);
    if (!found) {
      at += text[at] === "\\" ? 2 : 1;
      continue;
    }
    if (at > from) pieces.push({ text: text.slice(from, at) });
    pieces.push({ text: text.slice(at, found.end), latex: found.latex, display: found.display });
    from = at = found.end;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

/**
 * Whether a final answer is LaTeX without any delimiter, as models often write it.
 * @param {string} text
 */
export function isBareLatex(text) {
  const pieces = text.length <= 300 ? splitFormulas(text) : [];
  const delimited = pieces.some((piece) => piece.latex && !/^\\(?:begin|boxed)/.test(piece.text));
  return !delimited && pieces.some((piece) => !piece.latex && /\\[a-zA-Z]/.test(piece.text));
}

function between(text, at, open, close, display) {
  const end = closing(text, at + open.length, close, at + LONGEST);
  return end < 0 ? null : made(text.slice(at + open.length, end), display, end + close.length);
}

/** Prices are no formulas: what follows the first $ and precedes the second is no space, and no digit comes after. */
function inline(text, at) {
  if (/\s/.test(text[at + 1] ?? " ")) return null;
  const end = closing(text, at + 1, "$", at + LONGEST, "\n");
  if (end < 0 || /\s/.test(text[end - 1]) || /\d/.test(text[end + 1] ?? "")) return null;
  return made(text.slice(at + 1, end), false, end + 1);
}

function environment(text, at) {
  ENVIRONMENT.lastIndex = at;
  const found = ENVIRONMENT.exec(text);
  if (!found) return null;
  const close = `\\end{${found[1]}}`;
  const end = text.slice(at, at + LONGEST).indexOf(close);
  return end < 0 ? null : made(text.slice(at, at + end + close.length), true, at + end + close.length);
}

function boxed(text, at) {
  BOXED.lastIndex = at;
  if (!BOXED.test(text)) return null;
  const end = closing(text, BOXED.lastIndex, "}", at + LONGEST);
  return end < 0 ? null : made(text.slice(at, end + 1), false, end + 1);
}

const made = (latex, display, end) => (latex.trim() ? { latex: latex.trim(), display, end } : null);

/**
 * Where `close` stands outside of braces, so that \text{if $x$} closes nothing; -1 if not before `last` or `stop`.
 * @param {string} text
 * @param {number} from
 * @param {string} close
 * @param {number} last
 * @param {string | null} stop
 */
function closing(text, from, close, last, stop = null) {
  let depth = 0;
  for (let at = from; at < text.length && at < last; at++) {
    const char = text[at];
    if (depth === 0 && text.startsWith(close, at)) return at;
    if (char === stop) return -1;
    if (char === "\\") at++;
    else if (char === "{") depth++;
    else if (char === "}" && --depth < 0) return -1;
  }
  return -1;
}
