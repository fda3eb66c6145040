// What the events of a stream add up to. The final answer replaces it.

import { unitsOf } from "./spans.js";

/** Claims as they close, and the text around them, cut as `segments()` cuts a whole one. Linear in the text. */
export class Folded {
  /** @type {Claim[]} */
  claims = [];
  /** @type {Sample[]} */
  samples = [];
  /** @type {string[]} */
  resets = [];
  tokens = 0;
  words = 0;
  /**
   * Closed.
   * @type {Segment[]}
   */
  segments = [];
  /** The text after the last claim: what is being written. */
  tail = "";
  #points = 0;

  get text() {
    return this.segments.map((segment) => segment.text).join("") + this.tail;
  }

  /**
   * Take one event; names that are not known mean nothing.
   * @param {string} event
   * @param {any} data
   */
  take(event, data) {
    if (event === "delta") this.#add(data.text);
    else if (event === "claim") this.#close(data);
    else if (event === "reset") this.#drop(data.reason);
    else if (event === "sample") this.samples.push(data);
    else if (event === "progress") this.tokens = data.tokens;
  }

  /** @param {string} text */
  #add(text) {
    this.tail += text;
    this.words += text.split(/\s+/).length - 1;
  }

  /** @param {Claim & {index: number}} closed */
  #close({ index, ...claim }) {
    this.claims.push(claim);
    const start = Math.max(claim.span[0], this.#points);
    if (start >= claim.span[1]) return;
    const from = unitsOf(this.tail, start - this.#points);
    const to = from + unitsOf(this.tail, claim.span[1] - start, from);
    if (from > 0) this.segments.push({ text: this.tail.slice(0, from), claim: null });
    if (to > from) this.segments.push({ text: this.tail.slice(from, to), claim });
    this.tail = this.tail.slice(to);
    this.#points = claim.span[1];
  }

  /** @param {string} reason */
  #drop(reason) {
    this.resets.push(reason);
    this.claims = [];
    this.segments = [];
    this.tail = "";
    this.words = this.#points = 0;
  }
}
