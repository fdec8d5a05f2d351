import {pressPagerKey} from './press-pager-key.js';
import {openPager, type PagerView} from './pager.js';
import type {TopItem} from './top-item.js';
import {SORT_KEYS, type SortKey} from './top-rows.js';
import {editText} from './edit-text.js';
import {
  hasNodes,
  rearrange,
  select,
  selectedIndex,
  selectedItem,
  tableHeight,
  type ConfirmedAction,
  type KeyResult,
  type TopState,
} from './top-state.js';

/**
 * Returns the state after a key, and its effect. A key is a character, or a name such as `UP`, `PAGE_DOWN`, `ESCAPE` or
 * `CTRL_C`.
 */
export function pressKey(before: TopState, key: string): KeyResult {
  if (key === 'CTRL_C') return {state: before, effect: {kind: 'quit'}};
  if (key === 'CTRL_Z') return {state: before, effect: {kind: 'suspend'}};
  if (key === 'CTRL_L') return {state: before, effect: {kind: 'redraw'}};
  const state = before.message === undefined ? before : {...before, message: undefined};
  const {screen} = state;
  switch (screen.kind) {
    case 'table':
      return pressTableKey(state, key);
    case 'filter':
      return {state: typeFilter(state, screen.before, key)};
    case 'confirm':
      return pressConfirmKey(state, screen, key);
    case 'help':
      return {state: pressHelpKey(state, screen.top, key)};
    case 'pager':
      return pressPagerKey(state, screen, key);
  }
}

const SORT_BY_KEY: Readonly<Record<string, SortKey>> = {
  N: 'name',
  R: 'restarts',
  C: 'cpu',
  M: 'memory',
  A: 'age',
  O: 'node',
};

const VIEW_BY_KEY: Readonly<Record<string, PagerView>> = {l: 'logs', e: 'events', d: 'describe', w: 'why'};

const ACTION_BY_KEY: Readonly<Record<string, ConfirmedAction>> = {
  r: 'restart',
  x: 'delete',
  CTRL_D: 'delete',
};

function pressTableKey(state: TopState, key: string): KeyResult {
  const moved = moveSelection(state, key);
  if (moved !== undefined) return {state: moved};
  const arranged = arrangeByKey(state, key);
  if (arranged !== undefined) return {state: arranged};
  if (key === 'q') return {state, effect: {kind: 'quit'}};
  if (key === '?' || key === 'h' || key === 'F1') return {state: {...state, screen: {kind: 'help', top: 0}}};
  if (key === '/') return {state: {...state, screen: {kind: 'filter', before: state.filter}}};
  const item = selectedItem(state);
  return item === undefined ? {state} : actOn({...state, selectsFirst: false}, item, key);
}

/** Returns the effect of a key on the selected row. */
function actOn(state: TopState, item: TopItem, key: string): KeyResult {
  const view = key === 'ENTER' ? (item.kind === 'pod' ? 'describe' : 'logs') : VIEW_BY_KEY[key];
  if (view !== undefined)
    return {state: {...state, screen: openPager(view, item)}, effect: {kind: 'open', view, item}};
  if (key === 's') return {state, effect: {kind: 'shell', item}};
  const action = ACTION_BY_KEY[key];
  return {state: action === undefined ? state : askToConfirm(state, action, item)};
}

function askToConfirm(state: TopState, action: ConfirmedAction, item: TopItem): TopState {
  const refusal = refuseAction(action, item);
  if (refusal !== undefined) return {...state, message: {text: refusal, isError: true}};
  return {...state, screen: {kind: 'confirm', action, item}};
}

/** Returns the state with another selected row; undefined for other keys. */
function moveSelection(state: TopState, key: string): TopState | undefined {
  const index = selectedIndex(state);
  const page = tableHeight(state.size);
  const targets: Readonly<Record<string, number>> = {
    UP: index - 1,
    k: index - 1,
    DOWN: index + 1,
    j: index + 1,
    PAGE_UP: index - page,
    CTRL_B: index - page,
    PAGE_DOWN: index + page,
    CTRL_F: index + page,
    HOME: 0,
    g: 0,
    END: state.rows.length - 1,
    G: state.rows.length - 1,
  };
  const target = targets[key];
  return target === undefined ? undefined : select({...state, selectsFirst: false}, target);
}

/** Returns the state with another arrangement of the rows; undefined for other keys. */
function arrangeByKey(state: TopState, key: string): TopState | undefined {
  const sort = SORT_BY_KEY[key];
  if (sort !== undefined) return sort === 'node' && !hasNodes(state) ? state : sortBy(state, sort);
  switch (key) {
    case '<':
    case ',':
      return sortBy(state, neighbour(state, -1));
    case '>':
    case '.':
      return sortBy(state, neighbour(state, 1));
    case 'I':
      return rearrange({...state, reversed: !state.reversed});
    case 't':
    case 'TAB':
      return rearrange({...state, tree: !state.tree});
    case 'ESCAPE':
      return rearrange({...state, filter: ''});
    default:
      return undefined;
  }
}

function sortBy(state: TopState, sort: SortKey): TopState {
  return rearrange({...state, sort, reversed: false});
}

function neighbour(state: TopState, step: number): SortKey {
  const keys: readonly SortKey[] = SORT_KEYS.filter((key) => key !== 'node' || hasNodes(state));
  return keys[(keys.indexOf(state.sort) + step + keys.length) % keys.length] ?? state.sort;
}

function typeFilter(state: TopState, before: string, key: string): TopState {
  const table = {kind: 'table'} as const;
  if (key === 'ENTER') return {...state, screen: table};
  if (key === 'ESCAPE') return rearrange({...state, filter: before, screen: table});
  return rearrange({...state, filter: editText(state.filter, key)});
}

function pressConfirmKey(
  state: TopState,
  {action, item}: {readonly action: ConfirmedAction; readonly item: TopItem},
  key: string,
): KeyResult {
  const table = {...state, screen: {kind: 'table'} as const};
  if (key === 'y' || key === 'Y') return {state: table, effect: {kind: action, item}};
  // A key that was meant for the table must neither confirm nor hide the question.
  return {state: key === 'n' || key === 'N' || key === 'ESCAPE' || key === 'q' ? table : state};
}

function pressHelpKey(state: TopState, top: number, key: string): TopState {
  if (key === 'DOWN' || key === 'j') return {...state, screen: {kind: 'help', top: top + 1}};
  if (key === 'UP' || key === 'k') return {...state, screen: {kind: 'help', top: Math.max(top - 1, 0)}};
  return {...state, screen: {kind: 'table'}};
}

/** Returns why an action is not possible on a row; undefined if it is. */
function refuseAction(
  action: ConfirmedAction,
  {kind, manager, namespace, node, pod}: TopItem,
): string | undefined {
  if (action === 'restart') return undefined;
  if (manager === 'kubelet')
    return `the kubelet of ${node ?? 'this node'} would create ${namespace}/${pod} again: delete it with kubectl, or kcri on that node, or remove its manifest`;
  if (manager === 'kcri' && kind === 'container')
    return 'this container is part of a pod of kcri: select the pod to delete it, or press r to restart it';
  return undefined;
}
