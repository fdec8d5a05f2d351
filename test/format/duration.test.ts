import {describe, expect, test} from 'vitest';
import {
  durationFault,
  formatDuration,
  humanAgo,
  humanDuration,
  parseDuration,
} from '../../src/format/duration.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('humanDuration formats durations like go-units', () => {
  test.each([
    [-5 * MINUTE, 'Less than a second'],
    [999, 'Less than a second'],
    [SECOND, '1 second'],
    [59_999, '59 seconds'],
    [MINUTE, 'About a minute'],
    [2 * MINUTE - 1, 'About a minute'],
    [2 * MINUTE, '2 minutes'],
    [59 * MINUTE + 59 * SECOND, '59 minutes'],
    [HOUR, 'About an hour'],
    [89 * MINUTE, 'About an hour'],
    [90 * MINUTE, '2 hours'],
    [47.4 * HOUR, '47 hours'],
    [47.5 * HOUR, '2 days'],
    [14 * DAY - HOUR, '13 days'],
    [14 * DAY, '2 weeks'],
    [60 * DAY - HOUR, '8 weeks'],
    [60 * DAY, '2 months'],
    [729 * DAY, '24 months'],
    [730 * DAY, '2 years'],
    [20_000 * DAY, '54 years'],
  ])('%d ms is "%s"', (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });

  test('humanAgo takes nanoseconds since the epoch', () => {
    expect(humanAgo(1_000_000_000_000n, 1_180_000)).toBe('3 minutes ago');
  });
});

describe("parseDuration and formatDuration follow Go's time package", () => {
  test.each([
    ['0', 0n],
    ['1ns', 1n],
    ['1.5us', 1500n],
    ['2µs', 2000n],
    ['100ms', 100_000_000n],
    ['2s', 2_000_000_000n],
    ['.5s', 500_000_000n],
    ['1.s', 1_000_000_000n],
    ['1h15m30.918s', 4_530_918_000_000n],
    ['-1.5h', -5_400_000_000_000n],
    ['+3m', 180_000_000_000n],
  ])('%s is %d ns', (text, nanos) => {
    expect(parseDuration(text)).toBe(nanos);
  });

  test.each(['', '5', 's', '.s', '1x', '1s ', '1h-3m', '--1s', 'abc'])('"%s" is rejected', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test.each([
    [0n, '0s'],
    [1n, '1ns'],
    [1100n, '1.1µs'],
    [2_200_000n, '2.2ms'],
    [3_300_000_000n, '3.3s'],
    [120_000_000_000n, '2m0s'],
    [4_530_918_000_000n, '1h15m30.918s'],
    [-5_400_000_000_000n, '-1h30m0s'],
  ])('%d ns is formatted as %s', (nanos, text) => {
    expect(formatDuration(nanos)).toBe(text);
  });
});

test.each([
  ['', 'time: invalid duration ""'],
  ['-', 'time: invalid duration "-"'],
  ['x', 'time: invalid duration "x"'],
  ['.s', 'time: invalid duration ".s"'],
  ['5', 'time: missing unit in duration "5"'],
  ['1m1', 'time: missing unit in duration "1m1"'],
  ['0.1.2s', 'time: missing unit in duration "0.1.2s"'],
  ['1d', 'time: unknown unit "d" in duration "1d"'],
  ['1h 2m', 'time: unknown unit "h " in duration "1h 2m"'],
  ['1\u00e9', String.raw`time: unknown unit "\xc3\xa9" in duration "1\xc3\xa9"`],
  ['1"s', String.raw`time: unknown unit "\"s" in duration "1\"s"`],
  ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
  ['99999999999999999999s', 'time: invalid duration "99999999999999999999s"'],
])('durationFault(%j) is the error of time.ParseDuration', (text, message) => {
  expect([parseDuration(text), durationFault(text)]).toEqual([undefined, message]);
});
