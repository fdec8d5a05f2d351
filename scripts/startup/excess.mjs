/**
 * Part by which a figure may exceed its budget. Instructions of one program differ by 0.1 % from run to run. Another
 * machine has counted 2 % more, perhaps since libc chooses routines by the processor, or V8 collected garbage at another moment.
 */
export const LEEWAY = Object.freeze({bytes: 0.03, instructions: 0.05});

/**
 * Returns the largest figure that is within a budget.
 *
 * @param {number} budget
 * @param {number} leeway one of LEEWAY
 */
export function limitOf(budget, leeway) {
  return budget * (1 + leeway);
}

/**
 * Returns by how many percent a figure exceeds its budget, or undefined if that is within the leeway.
 *
 * @param {{budget: number, now: number}} figures
 * @param {number} leeway one of LEEWAY
 */
export function percentMore({budget, now}, leeway) {
  return now <= limitOf(budget, leeway) ? undefined : ((now / budget - 1) * 100).toFixed(1);
}

/** Formats an integer with separators of thousands. */
export function formatCount(count) {
  return count.toLocaleString('en-US');
}
