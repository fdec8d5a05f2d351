import {expect, test} from 'vitest';
import {arrangeRows} from '../../../src/ui-page/model/arrange.js';
import {
  INITIAL_TABLE,
  pressTableKey,
  sortByColumn,
  type TableState,
} from '../../../src/ui-page/model/table-state.js';
import {manyUiPods} from '../../fakes/ui/ui-builders.js';

const PODS = manyUiPods(30);

function press(keys: readonly string[], start: Partial<TableState> = {}, hasNodes = true) {
  let state: TableState = {...INITIAL_TABLE, ...start};
  let result: ReturnType<typeof pressTableKey>;
  for (const key of keys) {
    result = pressTableKey(state, key, {rows: arrangeRows(PODS, state), page: 10, hasNodes});
    state = result?.state ?? state;
  }
  const rows = arrangeRows(PODS, state);
  return {
    state,
    effect: result?.effect,
    index: rows.findIndex(({key}) => key === state.selected),
    rows,
    result,
  };
}

test.each([
  [['j'], 1],
  [['ArrowDown', 'ArrowDown'], 2],
  [['j', 'j', 'k'], 1],
  [['ArrowUp'], 0],
  [['PageDown'], 10],
  [['PageDown', 'PageUp'], 0],
  [['G'], 29],
  [['End', 'j'], 29],
  [['G', 'g'], 0],
  [['End', 'Home'], 0],
] as const)('%j selects row %i', (keys, index) => {
  expect(press(keys).index).toBe(index);
});

test.each([
  ['C', 'cpu'],
  ['M', 'memory'],
  ['N', 'name'],
  ['A', 'age'],
  ['R', 'restarts'],
  ['O', 'node'],
  ['>', 'node'],
  ['<', 'age'],
] as const)('%s sorts by %s', (key, sort) => {
  expect(press([key]).state).toMatchObject({sort, reversed: false});
});

test('rows are not sorted by node if there is only one', () => {
  expect(press(['O'], {}, false).state.sort).toBe('name');
  expect(press(['>'], {}, false).state.sort).toBe('state');
});

test.each([
  ['Enter', 'status'],
  ['l', 'logs'],
  ['e', 'events'],
  ['d', 'status'],
  ['w', 'status'],
  ['s', 'shell'],
] as const)('%s opens the tab %s of the selected pod', (key, tab) => {
  const {effect, rows} = press(['j', key]);
  expect(effect).toEqual({kind: 'open', tab, row: rows[1]});
});

test('Enter opens the log of a container', () => {
  const {effect} = press(['ArrowRight', 'j', 'Enter']);
  expect(effect).toMatchObject({kind: 'open', tab: 'logs', row: {container: {name: 'app'}}});
});

test('the arrows to the sides show and hide containers', () => {
  expect(press(['ArrowRight']).rows).toHaveLength(32);
  expect(press(['ArrowRight', 'j', 'ArrowLeft'])).toMatchObject({index: 0, rows: {length: 30}});
});

test.each([
  ['r', 'restart'],
  ['x', 'delete'],
] as const)('%s asks before it does %s', (key, action) => {
  expect(press([key]).effect).toMatchObject({kind: 'ask', action});
});

test('the filter has the focus after a slash, and Escape clears it', () => {
  expect(press(['/']).effect).toEqual({kind: 'filter'});
  expect(press(['Escape'], {filter: 'web'}).state.filter).toBe('');
});

test('I reverses, t shows only containers, and other keys do nothing', () => {
  expect(press(['I']).state.reversed).toBe(true);
  expect(press(['t']).rows.every(({container}) => container !== undefined)).toBe(true);
  expect(press(['z']).result).toBeUndefined();
});

test('a column that is sorted by is reversed', () => {
  const once = sortByColumn(INITIAL_TABLE, 'cpu');
  expect(once).toMatchObject({sort: 'cpu', reversed: false});
  expect(sortByColumn(once, 'cpu')).toMatchObject({sort: 'cpu', reversed: true});
});
