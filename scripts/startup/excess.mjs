/** Part by which a figure may exceed its budget: instructions of the same program differ by 0.1 %. */
const LEEWAY = 0.03;

/** Returns the largest figure that is within a budget. */
export function limitOf(budget) {
  return budget * (1 + LEEWAY);
}

/**
 * Returns by how many percent a figure exceeds its budget, or undefined if that is within the leeway.
 *
 * @param {number} budget
 * @param {number} now
 */
export function percentMore(budget, now) {
  return now <= limitOf(budget) ? undefined : ((now / budget - 1) * 100).toFixed(1);
}

/** Formats an integer with separators of thousands. */
export function formatCount(count) {
  return count.toLocaleString('en-US');
}
