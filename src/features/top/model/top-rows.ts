import {itemTitle, type TopGroup, type TopItem} from './top-item.js';

/** Columns that rows can be sorted by, in the order of the keys `<` and `>`; by node if there are several. */
export const SORT_KEYS = ['name', 'node', 'restarts', 'cpu', 'memory', 'age'] as const;

/** Column that rows are sorted by. */
export type SortKey = (typeof SORT_KEYS)[number];

/** Arrangement of the rows. */
export interface RowOrder {
  readonly sort: SortKey;
  readonly reversed: boolean;
  /** True if containers are below their pods; otherwise only containers are shown. */
  readonly tree: boolean;
  /** Text that shown rows contain, in any case; empty for all rows. */
  readonly filter: string;
}

/** Value by which rows are sorted, greatest first; undefined sorts last. */
const VALUES: Readonly<Record<Exclude<SortKey, 'name' | 'node'>, (item: TopItem) => number | undefined>> = {
  restarts: ({restarts}) => restarts,
  cpu: ({cpuPercent}) => cpuPercent,
  memory: ({memoryBytes}) => memoryBytes,
  age: ({startedMs}) => startedMs,
};

/** Returns the rows in the order in which they are shown. Equal rows are sorted by name. */
export function arrangeRows(groups: readonly TopGroup[], order: RowOrder): readonly TopItem[] {
  const shown = selectGroups(groups, order.filter.toLowerCase());
  const compare = comparison(order);
  if (!order.tree) return shown.flatMap(({containers}) => containers).toSorted(compare);
  return shown
    .toSorted((a, b) => compare(a.pod, b.pod))
    .flatMap(({pod, containers}) => [pod, ...containers.toSorted(compare)]);
}

function selectGroups(groups: readonly TopGroup[], filter: string): readonly TopGroup[] {
  if (filter === '') return groups;
  return groups.flatMap(({pod, containers}) => {
    if (matches(pod, filter)) return {pod, containers};
    const found = containers.filter((item) => matches(item, filter));
    return found.length === 0 ? [] : {pod, containers: found};
  });
}

function matches(item: TopItem, filter: string): boolean {
  return `${itemTitle(item)} ${item.state} ${item.manager} ${item.node ?? ''}`.toLowerCase().includes(filter);
}

function comparison({sort, reversed}: RowOrder): (a: TopItem, b: TopItem) => number {
  const sign = reversed ? -1 : 1;
  if (sort === 'name') return (a, b) => sign * byTitle(a, b);
  if (sort === 'node') return (a, b) => sign * byText(a.node ?? '', b.node ?? '') || byTitle(a, b);
  const valueOf = VALUES[sort];
  return (a, b) => {
    const [first, second] = [valueOf(a), valueOf(b)];
    if (first === second) return byTitle(a, b);
    if (first === undefined || second === undefined) return first === undefined ? 1 : -1;
    return sign * (second - first);
  };
}

function byTitle(a: TopItem, b: TopItem): number {
  return byText(itemTitle(a), itemTitle(b)) || byText(a.node ?? '', b.node ?? '');
}

function byText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
