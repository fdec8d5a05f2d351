import {expect, test} from 'vitest';
import {OutputFlow} from '../../../src/ui-page/model/output-flow.js';
import {backOffMs} from '../../../src/ui-page/model/back-off.js';
import {ageText, nameText, percentText, shareOf, sizeText} from '../../../src/ui-page/model/format.js';
import {formatRoute, parseRoute, type Route} from '../../../src/ui-page/model/route.js';
import {rowWindow} from '../../../src/ui-page/model/row-window.js';
import {sparklinePaths} from '../../../src/ui-page/model/sparkline.js';
import {usageRange} from '../../../src/ui-page/model/usage-range.js';

test.each<[Route, string]>([
  [{view: 'pods'}, '#/'],
  [{view: 'node', key: 'node a/b'}, '#/node/node%20a%2Fb'],
  [{view: 'pod', key: 'pod x', tab: 'logs'}, '#/pod/pod%20x/logs'],
  [{view: 'pod', key: 'pod <x>', tab: 'shell', container: 'a#b'}, '#/pod/pod%20%3Cx%3E/shell/a%23b'],
])('the route %j has the address %s', (route, hash) => {
  expect(formatRoute(route)).toBe(hash);
  expect(parseRoute(hash)).toEqual(route);
});

test.each(['', '#', '#/nothing/x', '#/pod', '#token=abc'])('the address "%s" shows the pods', (hash) => {
  expect(parseRoute(hash)).toEqual({view: 'pods'});
});

test('an unknown tab is the status, and a wrong escape is taken as it is', () => {
  expect(parseRoute('#/pod/x/other')).toEqual({view: 'pod', key: 'x', tab: 'status'});
  expect(parseRoute('#/node/100%')).toEqual({view: 'node', key: '100%'});
});

test.each([
  [0, -500, 0, 0],
  [500, -100, 0, 36],
  [500, 0, 0, 42],
  [500, 5000, 126, 180],
  [500, 100_000, 499, 500],
  [5, 0, 0, 5],
])('of %i rows scrolled by %i those from %i to %i are rendered', (count, top, first, end) => {
  expect(rowWindow(count, {top, height: 840, rowHeight: 36})).toMatchObject({first, end});
});

test('a window moves in steps, and always has the rows on the screen', () => {
  const windows = Array.from({length: 2000}, (_, top) => rowWindow(500, {top, height: 840, rowHeight: 36}));
  expect(new Set(windows.map(({first, end}) => `${first} ${end}`)).size).toBeLessThan(12);
  expect(windows.filter(({first, end}, top) => first * 36 > top || end * 36 < top + 840)).toEqual([]);
});

test('the pause before a new attempt grows to a limit', () => {
  expect([1, 2, 3, 6, 20].map(backOffMs)).toEqual([500, 1000, 2000, 15_000, 15_000]);
});

test('a sparkline ends at the right, has gaps, and stays in its box', () => {
  const box = {width: 100, height: 20, max: 10, count: 11};
  expect(sparklinePaths([0, 10], box)).toEqual({
    line: 'M90 19.5L100 0.5',
    area: 'M90 20L90 19.5L100 0.5L100 20Z',
  });
  expect(sparklinePaths([5, null, 50], box).line).toBe('M80 10M100 0.5');
  expect(sparklinePaths([], box)).toEqual({line: '', area: ''});
});

test('values are formatted for people', () => {
  expect([undefined, 0, 9.94, 10, 250.6, -0.5].map(percentText)).toEqual([
    '-',
    '0.0',
    '9.9',
    '10',
    '251',
    '-0.5',
  ]);
  expect([undefined, 0, 1_234_567].map(sizeText)).toEqual(['-', '0\u00a0B', '1.23\u00a0MB']);
  expect(ageText(undefined, 5)).toBe('-');
  expect(ageText(0, 61_000)).toBe('61s');
  expect(shareOf(5, 0)).toBe(0);
  expect(shareOf(500, 100)).toBe(100);
});

test('characters that change the direction of text are escaped in names', () => {
  expect(nameText('a\u202eb\n')).toBe('a\\u202eb\\n');
});

test('output is held back while much of it waits to be shown', () => {
  const asked: boolean[] = [];
  const flow = new OutputFlow((isPaused) => asked.push(isPaused));
  for (let count = 0; count < 9; count += 1) flow.add(64 * 1024);
  expect(asked).toEqual([true]);
  for (let count = 0; count < 7; count += 1) flow.add(-64 * 1024);
  expect(asked).toEqual([true]);
  flow.add(-64 * 1024);
  expect(asked).toEqual([true, false]);
});

test.each([0, 0.05, 0.4, 3, 250])(
  'the labels in the middle and at the end of a chart up to %d differ',
  (high) => {
    const [low, end] = usageRange(high);
    expect(end).toBeGreaterThan(high);
    expect(new Set([low, end / 2, end].map(percentText)).size).toBe(3);
  },
);
