import {fitMiddleToWidth, fitToWidth} from '../../../format/display-width.js';
import {formatAge} from '../../../format/age.js';
import {humanSize} from '../../../format/human-size.js';
import {truncateId} from '../../../format/truncate-id.js';
import {formatPercent} from '../../../cli/output/views/format-percent.js';
import {itemTitle, type TopItem} from '../model/top-item.js';
import type {SortKey} from '../model/top-rows.js';
import type {Resource, UsageHistory} from '../model/usage-history.js';
import {safeText, segment, type Glyphs, type Segment, type Style} from './screen-lines.js';
import {drawSparkline} from './sparkline.js';

/** Facts besides a row that cells depend on. */
export interface CellContext {
  readonly nowMs: number;
  readonly history: UsageHistory;
  readonly glyphs: Glyphs;
  readonly tree: boolean;
  /** Memory of the node in bytes; undefined if unknown. */
  readonly memoryTotalBytes: number | undefined;
  /** Tells whether a container is the last one of its pod. */
  readonly isLast: (item: TopItem) => boolean;
}

/** Column of the table. */
export interface TopColumn {
  readonly header: string;
  readonly width: number;
  readonly alignRight?: boolean;
  /** True to cut texts in the middle. */
  readonly cutsMiddle?: boolean;
  readonly sort?: SortKey;
  readonly cell: (item: TopItem, context: CellContext) => string;
  readonly style?: (item: TopItem) => Style;
}

/** Smallest width of the names. */
const MIN_NAME = 18;
/** Largest width of the names. */
const MAX_NAME = 72;
const GRAPH = 16;
/** Width from which states are not cut. */
const WIDE = 80;

const NAME: TopColumn = {
  header: 'NAME',
  width: MIN_NAME,
  cutsMiddle: true,
  sort: 'name',
  cell: (item, {tree, glyphs, isLast}) => {
    if (!tree) return itemTitle(item);
    if (item.kind === 'pod') return itemTitle(item);
    return ` ${isLast(item) ? glyphs.lastBranch : glyphs.branch}${item.name}`;
  },
};

/** Largest width of the names of nodes. */
const MAX_NODE = 20;

/** Returns the column with the nodes, whose longest name is that long. */
function nodeColumn(longest: number): TopColumn {
  return {
    header: 'NODE',
    width: Math.max(5, Math.min(longest, MAX_NODE)),
    sort: 'node',
    cell: ({node = ''}) => node,
  };
}

/** Rank of the column with the nodes. */
const NODE_RANK = 2.5;

/** Columns behind the name, in the order in which they are shown. The number is their rank: the highest are dropped first. */
const COLUMNS: readonly (readonly [rank: number, column: TopColumn])[] = [
  [5, {header: 'READY', width: 5, cell: ({ready}) => ready}],
  [3, {header: 'STATE', width: 12, cell: ({state}) => state, style: ({state}) => stateStyle(state)}],
  [
    4,
    {
      header: 'RESTARTS',
      width: 9,
      alignRight: true,
      sort: 'restarts',
      cell: ({restarts}) => String(restarts),
    },
  ],
  [1, {header: 'CPU%', width: 7, alignRight: true, sort: 'cpu', cell: ({cpuPercent}) => percent(cpuPercent)}],
  [
    2,
    {header: 'MEM', width: 8, alignRight: true, sort: 'memory', cell: ({memoryBytes}) => size(memoryBytes)},
  ],
  [9, {header: 'MEM%', width: 6, alignRight: true, cell: memoryShare}],
  [6.5, {header: 'EXCLUSIVE CPUS', width: 14, cell: exclusiveCpus}],
  [6, {header: 'AGE', width: 6, alignRight: true, sort: 'age', cell: ageText}],
  [7, {header: 'MANAGER', width: 8, cell: ({manager}) => (manager === 'none' ? '<none>' : manager)}],
  [8, {header: 'CPU HISTORY', width: GRAPH, cell: (item, context) => graph(item, 'cpu', context)}],
  [10, {header: 'MEM HISTORY', width: GRAPH, cell: (item, context) => graph(item, 'memory', context)}],
  [11, {header: 'PROBES', width: 16, cell: ({probes}) => probes}],
  [12, {header: 'CONTAINER ID', width: 13, cell: ({containerId = ''}) => truncateId(containerId)}],
];

/** States that are neither good nor a problem. */
const QUIET_STATES = /^(?:Completed|Succeeded|Terminated)$/;
const PROGRESS_STATES =
  /^(?:Pending|Waiting|ContainerCreating|PodInitializing|Terminating|Init:\d.*|Unknown|NotReady)$/;

function stateStyle(state: string): Style {
  if (state === 'Running') return 'good';
  if (QUIET_STATES.test(state)) return 'dim';
  return PROGRESS_STATES.test(state) ? 'warning' : 'bad';
}

function percent(value: number | undefined): string {
  return value === undefined ? '-' : formatPercent(value);
}

function size(bytes: number | undefined): string {
  return bytes === undefined ? '-' : humanSize(bytes);
}

function memoryShare({memoryBytes}: TopItem, {memoryTotalBytes}: CellContext): string {
  if (memoryBytes === undefined || memoryTotalBytes === undefined) return '-';
  return ((memoryBytes / memoryTotalBytes) * 100).toFixed(1);
}

function exclusiveCpus({exclusiveCpus: cpus}: TopItem): string {
  return cpus;
}

function ageText({startedMs}: TopItem, {nowMs}: CellContext): string {
  return startedMs === undefined ? '-' : formatAge(nowMs - startedMs);
}

function graph({key}: TopItem, resource: Resource, {history, glyphs}: CellContext): string {
  const numbers = history.last(key, resource, GRAPH);
  return drawSparkline(numbers, {width: GRAPH, max: Math.max(...numbers, 0), bars: glyphs.bars});
}

/** Properties that the columns depend on besides the width. */
export interface ColumnNeeds {
  /** Width of the longest name. */
  readonly longestName: number;
  /** Width of the longest state. */
  readonly longestState: number;
  /** Width of the longest name of a node; 0 if there is only one. */
  readonly longestNode: number;
  /** True if the share of memory is known. */
  readonly hasShare: boolean;
  /** True if a container has exclusive CPUs. */
  readonly isPinned: boolean;
}

/**
 * Returns the columns that fit the width. The name takes what is left, up to the length of the longest name.
 */
export function chooseColumns(
  width: number,
  {longestName, longestState, longestNode, hasShare, isPinned}: ColumnNeeds,
): readonly TopColumn[] {
  const wanted = Math.max(MIN_NAME, Math.min(longestName, MAX_NAME));
  const known = COLUMNS.filter(
    ([, {cell}]) => (hasShare || cell !== memoryShare) && (isPinned || cell !== exclusiveCpus),
  );
  const all = longestNode === 0 ? known : [[NODE_RANK, nodeColumn(longestNode)] as const, ...known];
  const columns = all.map(([rank, column]) => [rank, fitState(column, width, longestState)] as const);
  const byRank = columns.toSorted(([a], [b]) => a - b);
  const chosen = new Set<TopColumn>();
  let rest = width - MIN_NAME;
  for (const [, column] of byRank) {
    if (column.width + 1 > rest) break;
    chosen.add(column);
    rest -= column.width + 1;
  }
  const name = {...NAME, width: Math.min(wanted, MIN_NAME + Math.max(rest, 0))};
  return [name, ...columns.flatMap(([, column]) => (chosen.has(column) ? column : []))];
}

/** Returns the column of states as narrow as the states allow, with room for the longest ones on a wide terminal. */
function fitState(column: TopColumn, width: number, longest: number): TopColumn {
  if (column.header !== 'STATE') return column;
  return {...column, width: Math.max(column.header.length, Math.min(longest, width >= WIDE ? 17 : 12))};
}

/** Returns the headers of columns; an arrow marks the one that rows are sorted by. */
export function headerSegments(
  columns: readonly TopColumn[],
  {sort, reversed, glyphs}: {readonly sort: SortKey; readonly reversed: boolean; readonly glyphs: Glyphs},
): readonly Segment[] {
  // Names are sorted from A to Z, numbers from the greatest, unless reversed.
  const isText = sort === 'name' || sort === 'node';
  const arrow = isText === reversed ? glyphs.down : glyphs.up;
  return columns.flatMap((column, index) => {
    const isSorted = column.sort === sort;
    const text = isSorted ? `${column.header}${arrow}` : column.header;
    return [...gap(index), segment(align(text, column, glyphs), isSorted ? 'sorted' : 'header')];
  });
}

/** Returns the cells of a row. */
export function rowSegments(
  columns: readonly TopColumn[],
  item: TopItem,
  context: CellContext,
): readonly Segment[] {
  return columns.flatMap((column, index) => {
    const text = safeText(column.cell(item, context));
    const style = column.style?.(item) ?? (item.kind === 'pod' && index === 0 ? 'accent' : 'plain');
    return [...gap(index), segment(align(text, column, context.glyphs), style)];
  });
}

function gap(index: number): readonly Segment[] {
  return index === 0 ? [] : [segment(' ')];
}

function align(text: string, {width, alignRight, cutsMiddle}: TopColumn, {ellipsis}: Glyphs): string {
  if (cutsMiddle === true) return fitMiddleToWidth(text, width, ellipsis);
  return fitToWidth(alignRight === true ? text.padStart(width) : text, width, ellipsis);
}
