/**
 * Returns the range of the axis of a usage whose highest value is `high`: with some room above it, and at least so large that its labels,
 * which have one decimal, differ.
 */
export function usageRange(high: number): [number, number] {
  return [0, Math.max(high * 1.1, 1)];
}
