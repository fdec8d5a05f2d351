import type {NodeUsageView} from './node-usage-view.js';
import type {Pager, PagerArea, PagerView} from './pager.js';
import type {TopGroup, TopItem} from './top-item.js';
import {arrangeRows, type RowOrder} from './top-rows.js';

/** Size of the terminal in cells. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Action that must be confirmed. */
export type ConfirmedAction = 'delete' | 'restart';

/** Content of the screen besides the table. */
export type TopScreen =
  | {readonly kind: 'table'}
  /** The filter is being typed; `before` is restored by Esc. */
  | {readonly kind: 'filter'; readonly before: string}
  | {readonly kind: 'confirm'; readonly action: ConfirmedAction; readonly item: TopItem}
  | {readonly kind: 'help'; readonly top: number}
  | Pager;

/** Line about the result of an action, or about a failure. */
export interface StatusMessage {
  readonly text: string;
  readonly isError: boolean;
}

/** State of the full-screen view. */
export interface TopState extends RowOrder {
  readonly size: ScreenSize;
  readonly groups: readonly TopGroup[];
  /** Rows in the order in which they are shown. */
  readonly rows: readonly TopItem[];
  /** Key of the selected row; undefined without rows. */
  readonly selectedKey: string | undefined;
  /** True until the user selects a row or acts on one: the first row stays selected, whichever that is. */
  readonly selectsFirst: boolean;
  /** Index of the first row on the screen. */
  readonly top: number;
  readonly screen: TopScreen;
  readonly node: NodeUsageView;
  /** Time of the last sample in ms since the epoch; undefined before the first. */
  readonly sampledMs: number | undefined;
  /** Problem of the last sample, such as an unavailable runtime. */
  readonly failure: string | undefined;
  readonly message: StatusMessage | undefined;
}

/** Effect of a key on something other than the state. */
export type TopEffect =
  | {readonly kind: 'quit' | 'suspend' | 'close' | 'redraw'}
  | {readonly kind: 'open'; readonly view: PagerView; readonly item: TopItem}
  | {readonly kind: 'shell' | ConfirmedAction; readonly item: TopItem};

/** State after a key, and its effect. */
export interface KeyResult {
  readonly state: TopState;
  readonly effect?: TopEffect | undefined;
}

/** Height from which the header and the selected row have graphs. */
const TALL = 26;

/** Returns the number of lines above the rows, without the column headers. */
export function headerHeight({rows}: ScreenSize): number {
  return rows >= TALL ? 3 : 1;
}

/** Returns the number of lines below the rows: the selected row, the status, and the keys. */
export function footerHeight({rows}: ScreenSize): number {
  return rows >= TALL ? 4 : 3;
}

/** Returns the number of rows on the screen. */
export function tableHeight(size: ScreenSize): number {
  return Math.max(1, size.rows - headerHeight(size) - 1 - footerHeight(size));
}

/** Returns the area of the text of a pager, between its title, its status and its keys. */
export function pagerArea({columns, rows}: ScreenSize): PagerArea {
  return {width: Math.max(columns, 1), height: Math.max(rows - 3, 1)};
}

/** Returns the state before the first sample. */
export function createTopState(size: ScreenSize, node: NodeUsageView): TopState {
  return {
    size,
    node,
    groups: [],
    rows: [],
    selectedKey: undefined,
    selectsFirst: true,
    top: 0,
    sort: 'cpu',
    reversed: false,
    tree: true,
    filter: '',
    screen: {kind: 'table'},
    sampledMs: undefined,
    failure: undefined,
    message: undefined,
  };
}

/** Reports whether the rows are those of several nodes. */
export function hasNodes({groups}: Pick<TopState, 'groups'>): boolean {
  return groups.some(({pod}) => pod.node !== undefined);
}

/** Returns the index of the selected row; -1 without rows. */
export function selectedIndex({rows, selectedKey}: TopState): number {
  return rows.findIndex(({key}) => key === selectedKey);
}

/** Returns the selected row; undefined without rows. */
export function selectedItem(state: TopState): TopItem | undefined {
  return state.rows[selectedIndex(state)];
}

/** Arranges the rows again. The selection stays on its row, or at its place if the row is not shown any more. */
export function rearrange(state: TopState): TopState {
  const next = {...state, rows: arrangeRows(state.groups, state)};
  if (state.selectsFirst) return select(next, 0);
  const index = selectedIndex(next);
  return select(next, index < 0 ? selectedIndex(state) : index);
}

/** Selects the row at an index, or the nearest one, and scrolls so that it is visible. */
export function select(state: TopState, index: number): TopState {
  const height = tableHeight(state.size);
  const chosen = Math.max(0, Math.min(index, state.rows.length - 1));
  const maxTop = Math.max(state.rows.length - height, 0);
  const top = Math.max(Math.min(state.top, chosen, maxTop), chosen - height + 1);
  return {...state, selectedKey: state.rows[chosen]?.key, top};
}
