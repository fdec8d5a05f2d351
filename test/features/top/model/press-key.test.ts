import {describe, expect, test} from 'vitest';
import {pressKey} from '../../../../src/features/top/model/press-key.js';
import {
  rearrange,
  selectedItem,
  tableHeight,
  type TopState,
} from '../../../../src/features/top/model/top-state.js';
import {itemTitle} from '../../../../src/features/top/model/top-item.js';
import {aGroup, aTopState} from '../top-builders.js';

const PODS = Array.from({length: 30}, (_, index) =>
  aGroup(`pod-${String(index).padStart(2, '0')}`, ['main']),
);
const byName = (fields: Partial<TopState> = {}): TopState => aTopState(PODS, {sort: 'name', ...fields});

/** Returns the state after keys, and the effects of all of them. */
function press(state: TopState, ...keys: readonly string[]) {
  const effects: unknown[] = [];
  let current = state;
  for (const key of keys) {
    const {state: next, effect} = pressKey(current, key);
    if (effect !== undefined) effects.push(effect);
    current = next;
  }
  return {state: current, effects};
}

const selected = (state: TopState): string => {
  const item = selectedItem(state);
  return item === undefined ? '' : itemTitle(item);
};

describe('the table', () => {
  test.each([
    [['DOWN'], 'default/pod-00/main'],
    [['j', 'j', 'k'], 'default/pod-00/main'],
    [['UP'], 'default/pod-00'],
    [['END'], 'default/pod-29/main'],
    [['G', 'g'], 'default/pod-00'],
    [['PAGE_DOWN', 'PAGE_UP'], 'default/pod-00'],
  ])('%j select %s', (keys, title) => {
    expect(selected(press(byName(), ...keys).state)).toBe(title);
  });

  test('scrolls so that the selected row is visible', () => {
    const {state} = press(byName(), 'END');
    expect(state.top).toBe(60 - tableHeight(state.size));
    expect(press(state, 'HOME').state.top).toBe(0);
  });

  test.each([
    ['C', 'cpu'],
    ['M', 'memory'],
    ['N', 'name'],
    ['A', 'age'],
    ['R', 'restarts'],
    ['>', 'restarts'],
    ['<', 'age'],
  ])('%s sorts by %s', (key, sort) => {
    expect(press(byName(), key).state.sort).toBe(sort);
  });

  test('the first row stays selected until another row is selected or an action is chosen', () => {
    const reordered = (...keys: readonly string[]): string =>
      selected(rearrange({...press(byName(), ...keys).state, reversed: true}));
    expect(reordered()).toBe('default/pod-29');
    expect(reordered('/', 'p', 'ENTER')).toBe('default/pod-29');
    for (const keys of [
      ['DOWN', 'UP'],
      ['l', 'q'],
      ['x', 'n'],
    ])
      expect(reordered(...keys)).toBe('default/pod-00');
  });

  test('nodes are a column to sort by only if there are several', () => {
    expect(press(byName(), 'O').state.sort).toBe('name');
    const state = aTopState([aGroup('web', ['main'], {node: 'b'})], {sort: 'name'});
    expect(press(state, 'O').state.sort).toBe('node');
    expect(press(state, '>').state.sort).toBe('node');
    expect(press(state, '>', '>', '<', '<').state.sort).toBe('name');
  });

  test('I reverses the order, and the selection stays on its row', () => {
    const {state} = press(byName(), 'DOWN', 'DOWN', 'I');
    expect(selected(state)).toBe('default/pod-01');
    expect(state.rows[0]?.pod).toBe('pod-29');
  });

  test('a row that disappears leaves the selection in its place', () => {
    const {state} = press(byName(), 'DOWN', 'DOWN', '/', ...Array.from('pod-2'), 'ENTER');
    expect(selected(state)).toBe('default/pod-21');
  });

  test('q and Ctrl-C quit, Ctrl-Z suspends', () => {
    expect(press(byName(), 'q', 'CTRL_C', 'CTRL_Z').effects).toEqual([
      {kind: 'quit'},
      {kind: 'quit'},
      {kind: 'suspend'},
    ]);
  });

  test('? shows the help, which the next key closes', () => {
    const {state} = press(byName(), '?');
    expect(state.screen.kind).toBe('help');
    expect(press(state, 'q')).toMatchObject({state: {screen: {kind: 'table'}}, effects: []});
  });

  test('without rows keys for a row do nothing', () => {
    expect(press(aTopState([]), 'l', 'd', 'x', 'r', 's', 'ENTER', 'DOWN').effects).toEqual([]);
  });
});

describe('the filter', () => {
  test('selects while it is typed', () => {
    const {state} = press(byName(), '/', ...Array.from('pod-07'));
    expect(state.rows).toHaveLength(2);
    expect(press(state, 'BACKSPACE').state.rows).toHaveLength(20);
    expect(press(state, 'CTRL_U').state.rows).toHaveLength(60);
  });

  test('Enter accepts it, and Esc clears it later', () => {
    const {state} = press(byName(), '/', ...Array.from('pod-07'), 'ENTER');
    expect(state).toMatchObject({screen: {kind: 'table'}, filter: 'pod-07'});
    expect(press(state, 'ESCAPE').state.rows).toHaveLength(60);
  });

  test('Esc restores the filter from before', () => {
    expect(press(byName({filter: 'pod-07'}), '/', 'x', 'ESCAPE').state.filter).toBe('pod-07');
  });

  test('takes letters that are keys of the table, and ignores others', () => {
    expect(press(byName(), '/', 'q', 'UP', 'x').state.filter).toBe('qx');
  });
});

describe('actions', () => {
  test.each([
    ['l', 'logs'],
    ['e', 'events'],
    ['d', 'describe'],
    ['w', 'why'],
    ['ENTER', 'describe'],
  ])('%s opens %s of a pod', (key, view) => {
    const {state, effects} = press(byName(), key);
    expect(effects).toEqual([{kind: 'open', view, item: byName().rows[0]}]);
    expect(state.screen).toMatchObject({kind: 'pager', view, isLoading: true});
  });

  test('Enter opens the logs of a container', () => {
    expect(press(byName(), 'DOWN', 'ENTER').effects).toMatchObject([{kind: 'open', view: 'logs'}]);
  });

  test('s opens a shell', () => {
    expect(press(byName(), 's').effects).toMatchObject([{kind: 'shell', item: {pod: 'pod-00'}}]);
  });

  test.each([
    ['x', 'delete'],
    ['CTRL_D', 'delete'],
    ['r', 'restart'],
  ])('%s asks before it performs %s', (key, action) => {
    const {state, effects} = press(byName(), key);
    expect({effects, screen: state.screen}).toMatchObject({
      effects: [],
      screen: {kind: 'confirm', action, item: {pod: 'pod-00'}},
    });
    expect(press(state, 'y').effects).toMatchObject([{kind: action, item: {pod: 'pod-00'}}]);
    for (const no of ['n', 'ESCAPE']) expect(press(state, no, 'y').effects).toEqual([]);
  });

  test('a key for the table neither confirms nor hides a question', () => {
    const {state, effects} = press(byName(), 'x', 'DOWN', 'ENTER', 'x', ' ');
    expect({effects, kind: state.screen.kind}).toEqual({effects: [], kind: 'confirm'});
  });

  test('the question stays on its row when rows move', () => {
    const {state} = press(byName(), 'x');
    const moved = {...state, rows: state.rows.toReversed()};
    expect(press(moved, 'y').effects).toMatchObject([{kind: 'delete', item: {pod: 'pod-00'}}]);
  });

  test.each([
    ['x', {manager: 'kubelet'}, 0, /kubelet.*kubectl/],
    ['x', {manager: 'kcri'}, 1, /select the pod/],
  ] as const)('%s on %j, row %i, is refused with the reason', (key, fields, row, reason) => {
    const state = aTopState([aGroup('web', ['main'], fields)]);
    const after = press(state, ...(row === 0 ? [] : ['DOWN']), key).state;
    expect(after.screen.kind).toBe('table');
    expect(after.message).toMatchObject({isError: true, text: expect.stringMatching(reason) as string});
    expect(press(after, 'DOWN').state.message).toBeUndefined();
  });
});
