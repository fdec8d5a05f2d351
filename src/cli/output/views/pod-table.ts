import {escapeToLine} from '../../../format/escape-controls.js';
import type {Column} from '../../../format/table.js';
import type {PodRow} from './pod-row.js';

/** Options of the columns. */
export interface PodColumnOptions {
  readonly wide: boolean;
  readonly namespace: boolean;
  readonly manager: boolean;
}

/** Returns the columns of `get pods`: those of kubectl, and the manager of each pod. */
export function podColumns({wide, namespace, manager}: PodColumnOptions): readonly Column<PodRow>[] {
  return [
    ...(namespace ? [{header: 'NAMESPACE', value: (row: PodRow) => row.namespace}] : []),
    {header: 'NAME', value: ({name}) => name},
    {header: 'READY', value: ({ready}) => ready},
    {header: 'STATUS', value: ({status}) => status},
    {header: 'RESTARTS', value: ({restarts}) => restarts},
    {header: 'AGE', value: ({age}) => age},
    ...(wide ? WIDE : []),
    ...(wide || manager ? [{header: 'MANAGER', value: (row: PodRow) => row.manager}] : []),
  ];
}

const WIDE: readonly Column<PodRow>[] = [
  {header: 'IP', value: ({ip}) => ip},
  {header: 'NODE', value: ({node}) => node},
  {header: 'NOMINATED NODE', value: ({nominatedNode}) => nominatedNode},
  {header: 'READINESS GATES', value: ({readinessGates}) => readinessGates},
];

/** Layout of the tables of kubectl (printers.GetNewTabWriter). */
const MIN_WIDTH = 6;
const PADDING = 3;

/** Table that is printed incrementally; its columns only grow. */
export class GrowingTable<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #widths: number[];
  #header: boolean;

  constructor(columns: readonly Column<Row>[], options: {readonly header: boolean}) {
    this.#columns = columns;
    this.#widths = columns.map(() => MIN_WIDTH);
    this.#header = options.header;
  }

  /** Formats rows, below the header if they are the first ones. */
  text(rows: readonly Row[]): string {
    const lines = rows.map((row) => this.#columns.map(({value}) => escapeToLine(value(row))));
    if (this.#header && rows.length > 0) lines.unshift(this.#columns.map(({header}) => header));
    this.#header &&= rows.length === 0;
    for (const line of lines)
      for (const [index, cell] of line.entries())
        this.#widths[index] = Math.max(this.#widths[index] ?? 0, lengthOf(cell) + PADDING);
    return lines.map((line) => `${this.#line(line)}\n`).join('');
  }

  #line(cells: readonly string[]): string {
    return cells
      .map((cell, index) => (index === cells.length - 1 ? cell : padded(cell, this.#widths[index] ?? 0)))
      .join('');
  }
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(width - lengthOf(cell));
}

/** Returns the width in code points. */
function lengthOf(cell: string): number {
  return Array.from(cell).length;
}
