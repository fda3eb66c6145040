// How Markdown is read: CommonMark and tables, without what could change what a solution says.

import { formulaAt } from "./formulas.js";

/** Levels of lists and the like. A text that goes deeper is shown as it was written. */
export const DEEPEST = 20;

/** Each of these hides or turns something: HTML, entities, references that vanish, "> 5", an underlined sum. */
const LEFT_OUT = [
  "code", "lheading", "reference", "html_block", "blockquote", "html_inline", "entity", "strikethrough", "linkify",
  "autolink",
];

/** A parser of the library `markdownIt`, with maths as tokens of its own and addresses left as they were written. */
export function makeParser(markdownIt) {
  const parser = markdownIt({ html: false, linkify: false, typographer: false, breaks: true, maxNesting: DEEPEST });
  parser.disable(LEFT_OUT, true);
  parser.normalizeLink = (address) => address;
  parser.normalizeLinkText = (address) => address;
  parser.validateLink = () => true; // No link is made of it.
  parser.inline.ruler.before("escape", "maths", inlineMaths);
  parser.inline.ruler.before("emphasis", "products", products);
  parser.block.ruler.before("table", "maths_block", blockMaths, { alt: ["paragraph", "list"] });
  return parser;
}

function inlineMaths(state, silent) {
  const found = formulaAt(state.src, state.pos);
  if (!found || found.end > state.posMax) return false;
  if (!silent) push(state, found, state.pos);
  state.pos = found.end;
  return true;
}

/** Maths on lines of its own, in which "-", "=" and "|" are no lists, headings or tables. */
function blockMaths(state, first, end, silent) {
  const start = state.bMarks[first] + state.tShift[first];
  const found = formulaAt(state.src, start);
  if (!found?.display) return false;
  let last = first;
  while (last < end && state.eMarks[last] < found.end) last++;
  if (last >= end || state.src.slice(found.end, state.eMarks[last]).trim()) return false;
  if (!silent) push(state, found, start);
  state.line = last + 1;
  return true;
}

function push(state, { latex, display, end }, start) {
  const token = state.push("maths", "", 0);
  token.content = state.src.slice(start, end);
  token.meta = { latex, display };
}

const BEFORE = /^$|[\s([{"'“‘*—–]/;
const AFTER = /^$|[\s)\]}"'”’*.,;:!?—–]/;

/** 2*3*4 is a product and a_1 an index: only stars that stand apart from letters and numbers on one side are emphasis. */
function products(state, silent) {
  const mark = state.src[state.pos];
  if (mark !== "*" && mark !== "_") return false;
  let end = state.pos;
  while (state.src[end] === mark) end++;
  const apart = mark === "*" && (BEFORE.test(state.src[state.pos - 1] ?? "") || AFTER.test(state.src[end] ?? ""));
  if (apart) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}
