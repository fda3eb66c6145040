// What a threshold means for whoever holds the model to it: what was measured at it.

/** @param {number} share */
const in100 = (share) => Math.round(100 * share);

/**
 * In words, from the curve of a measured contract: the nearest threshold that was measured, named where it is another.
 * @param {Measured | undefined} measured
 * @param {number} t
 */
export function consequence(measured, t) {
  const at = nearest(measured?.thresholds ?? [], t);
  if (!at) return "";
  const holdsHere = Math.abs(at.risk_threshold - t) < 1e-9 || isBeyond(at, t);
  const where = holdsHere ? `At ${in100(t)}%` : `Measured nearby: at ${in100(at.risk_threshold)}%`;
  if (at.answered === 0) return `${where} nothing is answered: it was not that sure of any test question.`;
  const held = `${where} it answered ${in100(at.answered)} of 100 test questions`;
  if (at.right == null) return `${held}.`;
  return `${held}, ${in100(at.right)}% of those rightly.`;
}

/**
 * @param {Measured["thresholds"]} points
 * @param {number} t
 */
function nearest(points, t) {
  /** @type {Measured["thresholds"][number] | null} */
  let best = null;
  for (const point of points) {
    const isNearer = best === null || Math.abs(point.risk_threshold - t) < Math.abs(best.risk_threshold - t);
    if (isNearer) best = point;
  }
  return best && (Math.abs(best.risk_threshold - t) <= 0.025 + 1e-9 || isBeyond(best, t)) ? best : null;
}

/**
 * Whether `t` lies above a threshold that nothing reached.
 * @param {Measured["thresholds"][number]} point
 * @param {number} t
 */
const isBeyond = (point, t) => point.answered === 0 && t > point.risk_threshold;
