/** Levenshtein's distance: how many characters have to be added, dropped or replaced. */
function distance(from: string, to: string): number {
  let row = Array.from({length: to.length + 1}, (_, column) => column);
  for (const [above, letter] of Array.from(from).entries()) {
    const next = [above + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The candidate that a misspelt word most likely means, upper and lower case being alike; undefined when none is near. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  // Nothing that long is a misspelt name, and the distance takes time with its square.
  if (word.length > 100) return undefined;
  const ranked = candidates
    .map((candidate) => ({candidate, far: distance(word.toLowerCase(), candidate.toLowerCase())}))
    .filter(({far}) => far <= most)
    .sort((a, b) => a.far - b.far);
  return ranked[0]?.candidate;
}
