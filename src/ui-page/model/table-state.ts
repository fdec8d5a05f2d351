import {SORT_KEYS, type RowOrder, type SortKey, type TableRow} from './arrange.js';
import type {PodTab} from './route.js';

/** Arrangement and selection of the table. */
export interface TableState extends RowOrder {
  /** Key of the selected row; undefined for the first one. */
  readonly selected: string | undefined;
}

/** Action on a pod or container that asks before. */
export type ConfirmedAction = 'restart' | 'delete';

/** What a key causes besides another state. */
export type TableEffect =
  | {readonly kind: 'open'; readonly row: TableRow; readonly tab: PodTab}
  | {readonly kind: 'ask'; readonly row: TableRow; readonly action: ConfirmedAction}
  | {readonly kind: 'filter'};

/** State after a key, and its effect; undefined for keys without a meaning. */
export interface KeyResult {
  readonly state: TableState;
  readonly effect?: TableEffect;
}

/** Facts besides the state that keys depend on. */
export interface TableFacts {
  readonly rows: readonly TableRow[];
  /** Number of rows of a page. */
  readonly page: number;
  readonly hasNodes: boolean;
}

export const INITIAL_TABLE: TableState = {
  sort: 'name',
  reversed: false,
  tree: true,
  filter: '',
  expanded: new Set(),
  selected: undefined,
};

const SORT_BY_KEY: Readonly<Record<string, SortKey>> = {
  N: 'name',
  R: 'restarts',
  C: 'cpu',
  M: 'memory',
  A: 'age',
  O: 'node',
};

/** As in `kcri top`; its descriptions are the status here. */
export const TAB_BY_KEY: Readonly<Record<string, PodTab>> = {
  l: 'logs',
  e: 'events',
  d: 'status',
  w: 'status',
  s: 'shell',
};

/** Actions that are confirmed, by key; as in `kcri top`. */
export const ACTION_BY_KEY: Readonly<Record<string, ConfirmedAction>> = {r: 'restart', x: 'delete'};

/** Returns the state after a key with the name that browsers give it. Letters are those of `kcri top`. */
export function pressTableKey(state: TableState, key: string, facts: TableFacts): KeyResult | undefined {
  const target = targetIndex(state, key, facts);
  if (target !== undefined) return {state: select(state, facts.rows, target)};
  const arranged = arrangeByKey(state, key, facts);
  if (arranged !== undefined) return {state: arranged};
  if (key === '/') return {state, effect: {kind: 'filter'}};
  const row = facts.rows[selectedIndex(state, facts.rows)];
  return row === undefined ? undefined : actOn(state, row, key);
}

/** Returns the index of the selected row; 0 if it is not shown any more. */
export function selectedIndex({selected}: TableState, rows: readonly TableRow[]): number {
  return Math.max(
    rows.findIndex(({key}) => key === selected),
    0,
  );
}

/** Returns the state sorted by a column; in the other direction if it already is. */
export function sortByColumn(state: TableState, sort: SortKey): TableState {
  return {...state, sort, reversed: state.sort === sort && !state.reversed};
}

/** Returns the state with the containers of a pod shown or hidden. */
export function expandPod(state: TableState, podKey: string, isOpen: boolean): TableState {
  const expanded = new Set(state.expanded);
  if (isOpen) expanded.add(podKey);
  else expanded.delete(podKey);
  return {...state, expanded};
}

function actOn(state: TableState, row: TableRow, key: string): KeyResult | undefined {
  const tab = key === 'Enter' ? (row.container === undefined ? 'status' : 'logs') : TAB_BY_KEY[key];
  if (tab !== undefined) return {state, effect: {kind: 'open', row, tab}};
  const action = ACTION_BY_KEY[key];
  if (action !== undefined) return {state, effect: {kind: 'ask', row, action}};
  if (key === 'ArrowRight' && row.container === undefined)
    return {state: expandPod(state, row.pod.key, true)};
  if (key === 'ArrowLeft') return {state: {...expandPod(state, row.pod.key, false), selected: row.pod.key}};
  return undefined;
}

function select(state: TableState, rows: readonly TableRow[], index: number): TableState {
  const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
  return row === undefined ? state : {...state, selected: row.key};
}

/** Returns the index of the row that a key selects; undefined for other keys. */
function targetIndex(state: TableState, key: string, {rows, page}: TableFacts): number | undefined {
  const index = selectedIndex(state, rows);
  const targets: Readonly<Record<string, number>> = {
    ArrowUp: index - 1,
    k: index - 1,
    ArrowDown: index + 1,
    j: index + 1,
    PageUp: index - page,
    PageDown: index + page,
    Home: 0,
    g: 0,
    End: rows.length - 1,
    G: rows.length - 1,
  };
  return targets[key];
}

/** Returns the state with another arrangement of the rows; undefined for other keys. */
function arrangeByKey(state: TableState, key: string, {hasNodes}: TableFacts): TableState | undefined {
  const sort = SORT_BY_KEY[key];
  if (sort !== undefined) return sort === 'node' && !hasNodes ? state : {...state, sort, reversed: false};
  switch (key) {
    case '<':
    case ',':
      return {...state, sort: neighbour(state, -1, hasNodes), reversed: false};
    case '>':
    case '.':
      return {...state, sort: neighbour(state, 1, hasNodes), reversed: false};
    case 'I':
      return {...state, reversed: !state.reversed};
    case 't':
      return {...state, tree: !state.tree};
    case 'Escape':
      return {...state, filter: ''};
    default:
      return undefined;
  }
}

function neighbour({sort}: TableState, step: number, hasNodes: boolean): SortKey {
  const keys = SORT_KEYS.filter((key) => key !== 'node' || hasNodes);
  return keys[(keys.indexOf(sort) + step + keys.length) % keys.length] ?? sort;
}
