/** Returns the cells of a table by row. Columns are separated by at least three spaces. */
export function tableCells(table: string): string[][] {
  return table
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {3,}/));
}
