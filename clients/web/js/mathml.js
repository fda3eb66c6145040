// Formulas as MathML. The server converts LaTeX to trees; this builds elements from them, from its own allow-list.

import { oncePerFrame } from "./dom.js";

const NAMESPACE = "http://www.w3.org/1998/Math/MathML";
const ELEMENTS = new Set(
  ("math mrow mstyle mpadded mphantom menclose mtable mtr mtd mi mn mo mtext mspace mfrac msqrt mroot " +
    "msub msup msubsup mover munder munderover").split(" "),
);
const ATTRIBUTES = new Set(
  ("accent fence form stretchy minsize maxsize movablelimits separator " +
    "columnalign displaystyle linethickness mathvariant notation scriptlevel width").split(" "),
);
const PER_REQUEST = { formulas: 32, characters: 8000 };

/** Shows LaTeX as maths: as its source at once, as MathML when `convert` has answered, from then on at once. */
export class Maths {
  #convert;
  #trees = new Map();
  #waiting = new Map();
  #standing = [];
  #measure = oncePerFrame(() => makeReachable(this.#standing.splice(0)));

  /** `convert([{latex, display}])` gives a promise of one tree, or null, for each. */
  constructor(convert) {
    this.#convert = convert;
  }

  /** Fill `place`, which shows the source, with the formula. */
  show(place, { latex, display }) {
    const key = `${display ? "block" : "inline"} ${latex}`;
    if (this.#trees.has(key)) return this.#fill(place, this.#trees.get(key), display);
    if (this.#waiting.size === 0) queueMicrotask(() => this.#load());
    const entry = this.#waiting.get(key) ?? { latex, display, places: [] };
    entry.places.push(place);
    this.#waiting.set(key, entry);
  }

  #load() {
    const entries = [...this.#waiting];
    this.#waiting.clear();
    for (const batch of batches(entries)) this.#loadBatch(batch);
  }

  async #loadBatch(batch) {
    const asked = batch.map(([, { latex, display }]) => ({ latex, display }));
    const trees = await this.#convert(asked).catch(() => null);
    if (!trees) return; // The source stays, and the next formula of this kind asks again.
    batch.forEach(([key, { display, places }], i) => {
      this.#trees.set(key, trees[i]);
      for (const place of places) this.#fill(place, trees[i], display);
    });
  }

  #fill(place, tree, display) {
    const built = tree && build(tree);
    if (!built) return;
    place.replaceChildren(built);
    if (!display) return;
    built.setAttribute("display", "block");
    this.#standing.push(place);
    this.#measure();
  }
}

function* batches(entries) {
  let batch = [];
  let characters = 0;
  for (const entry of entries) {
    const length = entry[1].latex.length;
    if (batch.length === PER_REQUEST.formulas || characters + length > PER_REQUEST.characters) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(entry);
    characters += length;
  }
  yield batch;
}

/** What is wider than its place scrolls, so the keyboard has to get there. All are measured before any is changed. */
function makeReachable(places) {
  const wide = places.filter((place) => place.scrollWidth > place.clientWidth);
  for (const place of wide) place.tabIndex = 0;
}

/** A tree as an element; null when anything in it is not on the list. */
function build(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, attributes, ...children] = tree;
  if (!ELEMENTS.has(tag)) return null;
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (ATTRIBUTES.has(name)) made.setAttribute(name, value);
  }
  const built = children.map(build);
  if (built.includes(null)) return null;
  made.append(...built);
  return made;
}
