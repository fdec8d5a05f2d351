/**
 * Calls `visit` with every combination of k items in lexicographic order until it returns false (iterateCombinations). A
 * combination that was kept may change while later ones are made, like that of a kubelet: Go's slices share their memory where
 * they need not grow, so that the items after the first four of a kept combination are those of the last combination that
 * begins with the same items. Decisions must be the same.
 */
export function visitCombinations(
  items: readonly number[],
  k: number,
  visit: (combination: readonly number[]) => boolean,
): void {
  const extend = (chosen: number[], length: number, start: number): boolean => {
    if (length === k) return visit(chosen);
    for (let index = start; index <= items.length - (k - length); index++) {
      const next = append(chosen, length, items[index] ?? 0);
      if (!extend(next, length + 1, index + 1)) return false;
    }
    return true;
  };
  if (k >= 1) extend([], 0, 0);
}

/** Appends as Go does: a slice whose capacity, a power of two, is exhausted is copied, any other is overwritten. */
function append(slice: number[], length: number, item: number): number[] {
  const isFull = (length & (length - 1)) === 0;
  const target = isFull ? slice.slice(0, length) : slice;
  target[length] = item;
  return target;
}
