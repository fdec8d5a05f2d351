import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {formatLogrusLine} from '../../../src/cli/crictl/logrus-line.js';

const PLACE = {nowMs: Date.UTC(2026, 4, 1, 12), startMs: Date.UTC(2026, 4, 1, 12) - 7_900, terminal: false};
const zone = process.env['TZ'];
beforeEach(() => {
  process.env['TZ'] = 'UTC';
});
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

describe("a line of crictl's log", () => {
  test.each([
    ['no such image nothing', '"no such image nothing"'],
    ['plain', 'plain'],
    ['a/b@c^d+e-f.g_h1', 'a/b@c^d+e-f.g_h1'],
    ['two\nlines "quoted" \\ and\ta tab', String.raw`"two\nlines \"quoted\" \\ and\ta tab"`],
    ['ümläut \u0001 \u{1f600}', String.raw`"ümläut \x01 😀"`],
  ])('quotes %j as Go does', (message, quoted) => {
    expect(formatLogrusLine('error', message, PLACE)).toBe(
      `time="2026-05-01T12:00:00Z" level=error msg=${quoted}\n`,
    );
  });

  test.each([
    ['Asia/Kolkata', '2026-05-01T17:30:00+05:30'],
    ['America/St_Johns', '2026-05-01T09:30:00-02:30'],
  ])('has a time in the zone %s', (name, time) => {
    process.env['TZ'] = name;
    expect(formatLogrusLine('warning', 'x', PLACE)).toBe(`time="${time}" level=warning msg=x\n`);
  });

  test.each([
    ['error', '\x1b[31mERRO\x1b[0m[0007] '],
    ['warning', '\x1b[33mWARN\x1b[0m[0007] '],
    ['info', '\x1b[36mINFO\x1b[0m[0007] '],
  ] as const)('has colors on a terminal: %s', (level, start) => {
    expect(formatLogrusLine(level, 'no quotes here\n', {...PLACE, terminal: true})).toBe(
      `${start}${'no quotes here'.padEnd(44)} \n`,
    );
  });
});
