// Spans count Unicode code points; JavaScript counts UTF-16 units.

/** How many UTF-16 units the first `points` code points of `text` after `from` take. Lone surrogates count as one. */
export function unitsOf(text, points, from = 0) {
  let at = from;
  for (let left = points; left > 0 && at < text.length; left--) {
    at += text.codePointAt(at) > 0xffff ? 2 : 1;
  }
  return at - from;
}

/**
 * `text` in order, cut into claims and what stands between them: [{text, claim}], `claim` null between claims.
 * Spans that overlap are cut short. Linear in the text.
 * @param {string} text
 * @param {Claim[]} claims
 * @returns {Segment[]}
 */
export function segments(text, claims) {
  /** @type {Segment[]} */
  const found = [];
  let points = 0;
  let units = 0;
  const advance = (/** @type {number} */ to) => {
    const step = unitsOf(text, to - points, units);
    const piece = text.slice(units, units + step);
    units += step;
    points = to;
    return piece;
  };
  for (const claim of [...claims].sort((a, b) => a.span[0] - b.span[0])) {
    if (Math.max(claim.span[0], points) >= claim.span[1]) continue;
    const between = advance(Math.max(claim.span[0], points));
    if (between) found.push({ text: between, claim: null });
    const own = advance(claim.span[1]);
    if (own) found.push({ text: own, claim });
  }
  const rest = text.slice(units);
  return rest ? [...found, { text: rest, claim: null }] : found;
}
