// LaTeX as MathML. Temml reads it into a tree of its own; the elements are built here, from an allow-list.

import { oncePerFrame } from "./dom.js";
import { libraries } from "./libraries.js";
import { hasInvisible } from "./untrusted.js";

const NAMESPACE = /** @type {const} */ ("http://www.w3.org/1998/Math/MathML");
const ELEMENTS = new Set(
  ("math mrow mstyle mpadded mphantom menclose mtable mtr mtd mi mn mo mtext mspace mfrac msqrt mroot " +
    "msub msup msubsup mover munder munderover mmultiscripts mprescripts none").split(" "),
);
/** No colour and no size: a formula hides nothing of itself. No link, no source, no id. */
const ATTRIBUTES = new Set(
  ("accent accentunder columnalign depth display displaystyle fence form height largeop linebreak linethickness lspace " +
    "mathvariant maxsize minsize movablelimits notation rowspacing rspace scriptlevel separator stretchy symmetric " +
    "voffset width").split(" "),
);
const STYLES = new Set(
  ("border borderBottom borderLeft borderRight borderTop fontWeight mathDepth padding paddingBottom paddingLeft " +
    "paddingRight paddingTop textAlign whiteSpace").split(" "),
);
const CLASS = /^(?:tml|chr|wbk|ff)-[a-z0-9-]{1,20}$|^(?:upstrike|downstrike|sout|menclose|longdiv-\w{3}|phasor-\w{5,6})$/;
/** Words and lengths. Nothing moves back over what stands before it by more than a thin space. */
const VALUE = /^(?:[a-z -]{0,40}|[+]?\d{0,2}(?:\.\d{1,8})?(?:em|ex|px|pt|%)?|-0?(?:\.\d{1,8})?em|[\d.]{1,8}(?:em|px|pt) [a-z]{1,8})$/;
/** A macro can make a short formula long. */
const DEFINES = /\\(?:def|[gex]def|let|futurelet|(?:re)?newcommand|providecommand|newenvironment)(?![A-Za-z])/;
/** Numbers of equations would count on from one answer to the next. */
const NUMBERED = /(\\(?:begin|end)\{(?:align|alignat|gather|equation|multline))\}/g;
const EQNARRAY = /(\\(?:begin|end))\{eqnarray\*?\}/g;
/** Its stroke is a picture that the policy does not fetch: the term would look as if it still stood. */
const STRUCK = "tml-cancelto";
const OPERATORS = /[\u2061-\u2064]/g;
const DEEPEST = 100;

/** @type {HTMLElement[]} */
const waiting = [];
const measure = oncePerFrame(() => makeReachable(waiting.splice(0)));

/**
 * Fill `place`, which shows the source, with the formula; false, and the source stays, where that cannot be.
 * @param {HTMLElement} place
 * @param {Formula} formula
 */
export function showFormula(place, { latex, display }) {
  const { temml } = libraries;
  const built = temml && mathOf(temml, latex, display);
  if (!built) return false;
  place.replaceChildren(built);
  if (display) waiting.push(place);
  if (display) measure();
  return true;
}

/**
 * @param {Temml} temml
 * @param {string} latex
 * @param {boolean} display
 */
function mathOf(temml, latex, display) {
  if (DEFINES.test(latex)) return null;
  for (const written of readings(latex.replace(NUMBERED, "$1*}").replace(EQNARRAY, "$1{align*}"), display)) {
    try {
      return build(temml.__renderToMathMLTree(written, settings(display)), DEEPEST);
    } catch {
      // LaTeX that Temml does not know, or that is nested too deep for it.
    }
  }
  return null;
}

/**
 * As TeX has it, "\\" ends no line of a display; whoever writes it means that it does.
 * @param {string} latex
 * @param {boolean} display
 */
function readings(latex, display) {
  if (!display || !latex.includes("\\\\") || /^\\begin\{[^]*\\end\{[a-z]+\*?\}$/.test(latex)) return [latex];
  return ["gathered", "aligned"].map((name) => `\\begin{${name}}${latex}\\end{${name}}`);
}

const settings = (displayMode) => (
  { displayMode, throwOnError: true, trust: false, maxSize: [10, 10], maxExpand: 200, macros: {} }
);

/**
 * A node of Temml's tree as an element; null when anything in it is not on the list.
 * @param {TemmlNode} node
 * @param {number} depth
 * @returns {Node | null}
 */
export function build(node, depth) {
  if (typeof node.text === "string") return textOf(node.text);
  if (depth === 0 || node.classes?.includes(STRUCK)) return null;
  const made = elementOf(node);
  const children = made ? node.children.map((child) => build(child, depth - 1)) : [];
  for (const child of children) {
    if (child === null) return null;
    made?.append(child);
  }
  return made;
}

/**
 * An empty element for a node, a fragment for one that only groups, null for what is not on the list.
 * @param {TemmlNode} node
 */
function elementOf(node) {
  const { type, attributes } = node;
  if (type === undefined) return attributes === undefined ? document.createDocumentFragment() : null;
  if (!ELEMENTS.has(type)) return null;
  const made = document.createElementNS(NAMESPACE, type);
  dress(made, node);
  return made;
}

/**
 * @param {MathMLElement} made
 * @param {TemmlNode} node
 */
function dress(made, { attributes, style, classes }) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (ATTRIBUTES.has(name) && VALUE.test(value)) made.setAttribute(name, value);
  }
  for (const [name, value] of Object.entries(style ?? {})) {
    if (STYLES.has(name) && VALUE.test(value)) Object.assign(made.style, { [name]: value });
  }
  for (const name of classes ?? []) if (CLASS.test(name)) made.classList.add(name);
}

function textOf(text) {
  return hasInvisible(text.replace(OPERATORS, "")) ? null : document.createTextNode(text);
}

/**
 * What is wider than its place scrolls, so the keyboard has to get there. All are measured before any is changed.
 * @param {HTMLElement[]} places
 */
function makeReachable(places) {
  const wide = places.filter((place) => place.scrollWidth > place.clientWidth);
  for (const place of wide) place.tabIndex = 0;
}
