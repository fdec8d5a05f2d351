/** The candidate that `word` is most likely a misspelling of; undefined when none is near. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const [best] = candidates
    .map((candidate) => ({candidate, distance: editDistance(word, candidate)}))
    .filter(({distance}) => distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

/** Levenshtein's distance: letters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({length: to.length + 1}, (_, index) => index);
  for (const [i, a] of Array.from(from).entries()) {
    const next = [i + 1];
    for (const [j, b] of Array.from(to).entries())
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (a === b ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}
