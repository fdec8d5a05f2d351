type Letters = readonly string[];

/** Returns the number of insertions, deletions, replacements and adjacent swaps (optimal string alignment distance). */
function distance(from: Letters, to: Letters): number {
  let before: readonly number[] = [];
  let row = Array.from({length: to.length + 1}, (_, column) => column);
  // Iterators would dominate the cost, because this code rarely runs often enough to be optimized.
  for (let above = 0; above < from.length; above += 1) {
    const next = [above + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] ?? 0) + (from[above] === to[column] ? 0 : 1);
      const isSwapped = from[above] === to[column - 1] && from[above - 1] === to[column];
      const swapped = isSwapped ? (before[column - 1] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Returns the candidate closest to a misspelled word, ignoring case; undefined if none is close. */
export function findClosestMatch(word: string, candidates: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  // A text this long is not a misspelled name, and the distance takes quadratic time.
  if (word.length > 100) return undefined;
  const letters = Array.from(word.toLowerCase());
  let found: string | undefined;
  let nearest = most + 1;
  for (const candidate of candidates) {
    const others = Array.from(candidate.toLowerCase());
    // The difference in length is a lower bound of the distance.
    if (Math.abs(others.length - letters.length) >= nearest) continue;
    const far = distance(letters, others);
    if (far < nearest) [found, nearest] = [candidate, far];
  }
  return found;
}
