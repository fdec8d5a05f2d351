/** How columns are laid out. */
export interface TabLayout {
  /** What a column is wide at least, with its padding. */
  readonly minWidth: number;
  readonly padding: number;
}

/**
 * The text with its tabs as columns, as Go's text/tabwriter aligns it with blanks: a tab ends a cell, and a column
 * reaches over the lines that follow each other and have that cell. What stands behind a line's last tab is no cell.
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

/** Gives every run of lines that have the column its width. A line that lacks one lacks those behind it. */
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
      .reduce((most, cells) => Math.max(most, lengthOf(cells[column] ?? '') + padding), minWidth);
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
