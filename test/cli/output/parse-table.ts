/** Returns the rows of a printed table by the names of their columns, which must be at least three spaces apart. */
export function parseTable(text: string): readonly Readonly<Record<string, string>>[] {
  const [header = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {3,}/));
  return rows.map((cells) => Object.fromEntries(cells.map((cell, index) => [header[index] ?? '', cell])));
}
