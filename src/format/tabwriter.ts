/** Layout of columns. */
export interface TabLayout {
  /** Minimum width of a column, including padding. */
  readonly minWidth: number;
  readonly padding: number;
}

/**
 * Aligns tab-separated columns with spaces like Go's text/tabwriter. A tab ends a cell, and a column extends over
 * consecutive lines that have the cell. Text after the last tab of a line is not a cell.
 */
export function alignTabs(text: string, layout: TabLayout): string {
  const lines = text.split('\n').map((line) => line.split('\t'));
  const widths = lines.map((): number[] => []);
  const last = Math.max(...lines.map(({length}) => length)) - 1;
  for (let column = 0; column < last; column++) setWidths(lines, widths, column, layout);
  return lines
    .map((cells, index) => cells.map((cell, at) => padded(cell, widths[index]?.[at])).join(''))
    .join('\n');
}

/** Sets the width of the column for each run of lines that have it. A line without a column lacks all later ones. */
function setWidths(
  lines: readonly (readonly string[])[],
  widths: readonly number[][],
  column: number,
  {minWidth, padding}: TabLayout,
): void {
  let start = 0;
  for (let end = 0; end <= lines.length; end++) {
    const hasCell = column < (lines[end]?.length ?? 0) - 1;
    if (hasCell) continue;
    const width = lines
      .slice(start, end)
      .reduce((width, cells) => Math.max(width, lengthOf(cells[column] ?? '') + padding), minWidth);
    for (let index = start; index < end; index++) widths[index]?.push(width);
    start = end + 1;
  }
}

function padded(cell: string, width: number | undefined): string {
  return width === undefined ? cell : cell + ' '.repeat(Math.max(0, width - lengthOf(cell)));
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
