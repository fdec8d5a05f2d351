type Letters = readonly string[];

/** How many characters have to be added, dropped, replaced, or swapped with the next (optimal string alignment). */
function distance(from: Letters, to: Letters): number {
  let before: readonly number[] = [];
  let row = Array.from({length: to.length + 1}, (_, column) => column);
  // Without iterators, which cost most of it before it is compiled, as it is where a word is misspelt.
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

/** The candidate that a misspelt word most likely means, upper and lower case being alike; undefined when none is near. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  // Nothing that long is a misspelt name, and the distance takes time with its square.
  if (word.length > 100) return undefined;
  const letters = Array.from(word.toLowerCase());
  let found: string | undefined;
  let nearest = most + 1;
  for (const candidate of candidates) {
    const others = Array.from(candidate.toLowerCase());
    // Each letter too many or too few is one of the distance.
    if (Math.abs(others.length - letters.length) >= nearest) continue;
    const far = distance(letters, others);
    if (far < nearest) [found, nearest] = [candidate, far];
  }
  return found;
}
