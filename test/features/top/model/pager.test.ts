import {expect, test} from 'vitest';
import {
  appendLines,
  firstLine,
  lastTop,
  MAX_LINES,
  openPager,
  scrollBy,
  type Pager,
} from '../../../../src/features/top/model/pager.js';
import {pressKey} from '../../../../src/features/top/model/press-key.js';
import type {KeyResult} from '../../../../src/features/top/model/top-state.js';
import {aContainerItem, aGroup, aTopState} from '../top-builders.js';

const AREA = {width: 10, height: 4};
const numbered = (count: number, from = 0) =>
  Array.from({length: count}, (_, index) => `line ${from + index}`);
const logs = (lines: readonly string[], fields: Partial<Pager> = {}): Pager => ({
  ...appendLines(openPager('logs', aContainerItem('web', 'main')), lines),
  ...fields,
});

test('a log follows its end until it is scrolled up, and again at its end', () => {
  const pager = logs(numbered(20));
  expect(firstLine(pager, AREA)).toBe(16);
  expect(firstLine(appendLines(pager, ['more']), AREA)).toBe(17);
  const up = scrollBy(pager, -3, AREA);
  expect(firstLine(appendLines(up, ['more']), AREA)).toBe(13);
  expect(scrollBy(up, 3, AREA).follow).toBe(true);
});

test('wrapped lines count as several rows', () => {
  const pager = logs(['short', 'x'.repeat(25), 'short']);
  expect(lastTop(pager, AREA)).toBe(1);
  expect(lastTop({...pager, wrap: false}, AREA)).toBe(0);
});

test('a line longer than the screen can be reached', () => {
  expect(lastTop(logs(['first', 'x'.repeat(100)]), AREA)).toBe(1);
});

test('the oldest lines are dropped, and the view stays on its lines', () => {
  const pager = scrollBy(logs(numbered(MAX_LINES)), -100, AREA);
  const line = pager.lines[firstLine(pager, AREA)];
  const more = appendLines(pager, numbered(50, MAX_LINES));
  expect(more.lines).toHaveLength(MAX_LINES);
  expect(more.lines[firstLine(more, AREA)]).toBe(line);
});

/** Returns the result of the last of these keys in a pager on an 80 by 24 terminal. */
function press(pager: Pager, ...keys: readonly string[]): KeyResult {
  let result: KeyResult = {state: {...aTopState([aGroup('web', ['main'])]), screen: pager}};
  for (const key of keys) result = pressKey(result.state, key);
  return result;
}

test('Esc ends the search, then the pager; q goes back', () => {
  const pager = logs(numbered(100));
  expect(press(pager, 'ESCAPE')).toMatchObject({effect: {kind: 'close'}, state: {screen: {kind: 'table'}}});
  expect(press(pager, 'q')).toMatchObject({effect: {kind: 'close'}});
  expect(press(pager, 'CTRL_C')).toMatchObject({effect: {kind: 'quit'}});
  const searched = press(pager, '/', '5', 'ENTER', 'ESCAPE');
  expect(searched.state.screen).toMatchObject({kind: 'pager', search: ''});
});

test('search goes to the next and the previous match, around the end', () => {
  const pager = logs(numbered(100), {follow: false, top: 0});
  const matchAfter = (...keys: readonly string[]) => {
    const {screen} = press(pager, '/', ...Array.from('INE 7'), 'ENTER', ...keys).state;
    return screen.kind === 'pager' ? screen.match : undefined;
  };
  expect(matchAfter()).toBe(7);
  expect(matchAfter('n')).toBe(70);
  expect(matchAfter('n', 'N')).toBe(7);
  expect(matchAfter('N')).toBe(79);
});

test('search without a match keeps the place', () => {
  const {screen} = press(logs(numbered(100)), '/', ...Array.from('nothing'), 'ENTER').state;
  expect(screen).toMatchObject({match: undefined, follow: true});
});

test('f stops and starts following, w stops wrapping, arrows scroll sideways', () => {
  const pager = logs(numbered(100));
  expect(press(pager, 'f').state.screen).toMatchObject({follow: false, top: 79});
  expect(press(pager, 'f', 'f').state.screen).toMatchObject({follow: true});
  expect(press(pager, 'w', 'RIGHT', 'RIGHT', 'LEFT').state.screen).toMatchObject({wrap: false, left: 10});
});

test('a description is not followed', () => {
  const pager = {...logs(numbered(100)), view: 'describe', follow: false} as const;
  expect(press(pager, 'END').state.screen).toMatchObject({follow: false, top: 79});
});
