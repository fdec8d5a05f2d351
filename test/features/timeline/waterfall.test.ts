import {Chalk} from 'chalk';
import {expect, test} from 'vitest';
import type {Phase, Timeline} from '../../../src/features/timeline/phase.js';
import {barText, formatWaterfall} from '../../../src/features/timeline/waterfall.js';
import {displayWidth} from '../../../src/format/display-width.js';

const SCALE = {startMs: 0, endMs: 100, nowMs: 1000, width: 10};

test.each<readonly [string, Partial<Phase>, string]>([
  ['a whole bar', {startMs: 0, endMs: 100}, '██████████'],
  ['a part of a cell', {startMs: 20, endMs: 33}, '  █▎       '.slice(0, 10)],
  ['a short phase', {startMs: 50, endMs: 50}, '     ▏    '],
  ['a short phase at the end', {startMs: 100, endMs: 100}, '         ▏'],
  ['an open phase', {startMs: 80}, '        █▸'],
  ['an inferred phase', {startMs: 0, endMs: 30, inferred: 'x'}, '▒▒▒       '],
  ['a container that ran', {name: 'running', startMs: 10, endMs: 30}, ' ──       '],
  ['a container that runs on', {name: 'running', startMs: 90}, '         ▸'],
  ['a phase that began before', {startMs: -50, endMs: 10}, '█         '],
])('%s has a bar', (_what, phase, expected) => {
  expect(barText({name: 'pull', startMs: 0, source: 'runtime', ...phase}, SCALE)).toBe(expected);
});

const HOSTILE: Timeline = {
  ...{namespace: 'team', name: 'web', uid: 'u1', startMs: 0, readyMs: 5000, nowMs: 90_000_000},
  phases: [
    {name: 'sandbox', startMs: 0, endMs: 1000, source: 'kubelet'},
    {
      name: 'pull',
      subject: `évil\u001b[2J${'漢字'.repeat(40)}`,
      startMs: 1000,
      endMs: 4000,
      source: 'kubelet',
    },
    {name: 'running', subject: 'main', startMs: 4500, source: 'runtime'},
    ...Array.from({length: 9}, (_, index) => ({
      ...({name: 'back-off', subject: 'main', source: 'runtime', inferred: 'so'} as const),
      ...{startMs: (index + 1) * 3_600_000, endMs: (index + 1) * 3_600_000 + 10_000},
    })),
  ],
};

test.each([20, 40, 80, 200])('no line is wider than %d columns', (columns) => {
  const chalk = new Chalk({level: 0});
  const lines = formatWaterfall(HOSTILE, {chalk, isUnicode: true, columns, medians: new Map()});
  expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(Math.max(columns, 34));
  expect(lines.join('')).not.toContain('\u001b');
});

test('the slowest phase of the start comes first, and episodes between the first and the last are left out', () => {
  const chalk = new Chalk({level: 0});
  const lines = formatWaterfall(HOSTILE, {
    chalk,
    isUnicode: false,
    columns: 80,
    medians: new Map([['pull', 800]]),
  });
  expect(lines[1]).toBe('  Ready after 5.0s');
  expect(lines[2]).toMatch(/^ {2}slowest: pull .*~?$/);
  expect(lines.filter((line) => line.includes('left out'))).toEqual(['  5 episodes left out']);
  expect(lines.at(-1)).toBe('  ~ back-off is inferred: so');
});

test('what a phase was concluded from is broken between words to the width', () => {
  const options = {chalk: new Chalk({level: 0}), isUnicode: false, columns: 24, medians: new Map()};
  const inferred = 'from the first event to the last one';
  const [phase] = HOSTILE.phases;
  const lines = formatWaterfall(
    {...HOSTILE, phases: phase === undefined ? [] : [{...phase, inferred}]},
    options,
  );
  expect(lines.slice(lines.findIndex((line) => line.includes('is inferred'))).join('\n')).toMatch(
    /^ {2}~ \S+ is inferred:\n {4}from the first event\n {4}to the last one$/,
  );
});
