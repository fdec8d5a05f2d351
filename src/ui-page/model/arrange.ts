import type {UiContainer, UiPod} from '../../features/ui/protocol.js';
import {matchPod} from './filter.js';

/** Columns that rows can be sorted by, in the order of the keys `<` and `>`; by node if there are several. */
export const SORT_KEYS = ['name', 'node', 'state', 'restarts', 'cpu', 'memory', 'age'] as const;

/** Column that rows are sorted by. */
export type SortKey = (typeof SORT_KEYS)[number];

/** Arrangement of the rows. */
export interface RowOrder {
  readonly sort: SortKey;
  readonly reversed: boolean;
  /** True if containers are below their pods; otherwise only containers are shown. */
  readonly tree: boolean;
  readonly filter: string;
  /** Keys of the pods whose containers are shown in the tree. */
  readonly expanded: ReadonlySet<string>;
}

/** Row of the table: a pod, or one of its containers. */
export interface TableRow {
  readonly key: string;
  readonly pod: UiPod;
  readonly container?: UiContainer;
  /** True for a pod whose containers are shown below it. */
  readonly isOpen?: boolean;
}

/** Value by which rows are sorted, greatest first; undefined sorts last. */
const NUMBERS: Readonly<
  Record<'restarts' | 'cpu' | 'memory' | 'age', (row: TableRow) => number | undefined>
> = {
  restarts: (row) => shown(row).restarts,
  cpu: (row) => shown(row).cpuPercent,
  memory: (row) => shown(row).memoryBytes,
  age: (row) => shown(row).startedMs,
};

/** Rank of the states: what needs attention is first. */
const TONES = ['bad', 'busy', 'good', 'done'] as const;

/** Returns what a row shows: its container, or the pod. */
export function shown({pod, container}: TableRow): UiPod | UiContainer {
  return container ?? pod;
}

/** Returns the name of a row with its pod: `default/web`, `default/web/nginx`. */
export function titleOf({pod, container}: TableRow): string {
  const title = `${pod.namespace}/${pod.name}`;
  return container === undefined ? title : `${title}/${container.name}`;
}

/** Returns the rows in the order in which they are shown. Equal rows are sorted by name. */
export function arrangeRows(pods: Iterable<UiPod>, order: RowOrder): readonly TableRow[] {
  const compare = comparison(order);
  const groups = Array.from(pods).flatMap((pod) => {
    const containers = matchPod(pod, order.filter);
    if (containers === undefined) return [];
    // Containers that were searched for are shown.
    const isOpen = order.expanded.has(pod.key) || containers.length < pod.containers.length;
    return [{row: podRow(pod, isOpen), rows: containers.map((container) => containerRow(pod, container))}];
  });
  if (!order.tree) return groups.flatMap(({rows}) => rows).toSorted(compare);
  return groups
    .toSorted((a, b) => compare(a.row, b.row))
    .flatMap(({row, rows}) => [row, ...(row.isOpen === true ? rows.toSorted(compare) : [])]);
}

/** Rows of what has not changed, which are not rendered again. */
const POD_ROWS = {open: new WeakMap<UiPod, TableRow>(), closed: new WeakMap<UiPod, TableRow>()};
const CONTAINER_ROWS = new WeakMap<UiContainer, TableRow>();

function podRow(pod: UiPod, isOpen: boolean): TableRow {
  const known = isOpen ? POD_ROWS.open : POD_ROWS.closed;
  const row = known.get(pod) ?? {key: pod.key, pod, isOpen};
  known.set(pod, row);
  return row;
}

function containerRow(pod: UiPod, container: UiContainer): TableRow {
  const known = CONTAINER_ROWS.get(container);
  if (known?.pod === pod) return known;
  const row = {key: container.key, pod, container};
  CONTAINER_ROWS.set(container, row);
  return row;
}

function comparison({sort, reversed}: RowOrder): (a: TableRow, b: TableRow) => number {
  const sign = reversed ? -1 : 1;
  if (sort === 'name') return (a, b) => sign * byTitle(a, b);
  if (sort === 'node') return (a, b) => sign * byText(a.pod.node, b.pod.node) || byTitle(a, b);
  if (sort === 'state') return (a, b) => sign * byState(a, b) || byTitle(a, b);
  const valueOf = NUMBERS[sort];
  return (a, b) => {
    const [first, second] = [valueOf(a), valueOf(b)];
    if (first === second) return byTitle(a, b);
    if (first === undefined || second === undefined) return first === undefined ? 1 : -1;
    return sign * (second - first);
  };
}

function byState(a: TableRow, b: TableRow): number {
  const rank = (row: TableRow): number => TONES.indexOf(shown(row).tone);
  return rank(a) - rank(b) || byText(shown(a).state, shown(b).state);
}

function byTitle(a: TableRow, b: TableRow): number {
  return byText(titleOf(a), titleOf(b)) || byText(a.pod.node, b.pod.node);
}

function byText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
