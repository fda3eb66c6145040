// Where the maths is in a text: LaTeX between $…$, $$…$$, \(…\), \[…\], in an environment, or in \boxed{…}.

const FORMULA = new RegExp(
  [
    String.raw`\$\$(?<block>[^$]{1,1000})\$\$`,
    String.raw`\\\[(?<bracket>[^]{1,1000}?)\\\]`,
    String.raw`\\\((?<paren>[^]{1,1000}?)\\\)`,
    String.raw`(?<environment>\\begin\{(?<name>[a-z]{1,12}\*?)\}[^]{1,1000}?\\end\{\k<name>\})`,
    String.raw`(?<boxed>\\boxed\{(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,200}\}){0,200}\}){1,300}\})`,
    // Prices are no formulas: what follows the first $ and precedes the second is no space, and no digit comes after.
    String.raw`(?<!\\)\$(?<inline>(?![\s$])(?:\\[^\n]|[^$\\\n]){1,1000}?(?<!\s))\$(?!\d)`,
  ].join("|"),
  "g",
);

/** [{text}, {latex, display, text}, …] in order; joined, the texts are `text`. */
export function splitFormulas(text) {
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(FORMULA)) {
    if (found.index > at) pieces.push({ text: text.slice(at, found.index) });
    pieces.push({ text: found[0], ...latexOf(found.groups) });
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at) });
  return pieces;
}

/** The same for a final answer, which models often write as bare LaTeX. */
export function splitAnswer(text) {
  const pieces = splitFormulas(text);
  const bare = pieces.length === 1 && !pieces[0].latex && text.length <= 300 && /\\[a-zA-Z]/.test(text);
  return bare ? [{ text, latex: text, display: false }] : pieces;
}

function latexOf({ block, bracket, paren, environment, boxed, inline }) {
  const standing = block ?? bracket ?? environment;
  return { latex: (standing ?? paren ?? boxed ?? inline).trim(), display: standing !== undefined };
}
