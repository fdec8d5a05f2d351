import {describe, expect, test} from 'vitest';
import {parseSince, parseSinceAsCrictl} from '../../../src/operations/logs/parse-since.js';

const NOW = Date.parse('2026-11-20T14:00:00Z');
const nanos = (iso: string): bigint => BigInt(Date.parse(iso)) * 1_000_000n;

test.each([
  ['10m', nanos('2026-11-20T13:50:00Z')],
  ['1h30m', nanos('2026-11-20T12:30:00Z')],
  ['2026-11-20T13:00:00Z', nanos('2026-11-20T13:00:00Z')],
  ['2026-11-20T13:00:00.000000001Z', nanos('2026-11-20T13:00:00Z') + 1n],
  ['2026-11-20T13:00:00+02:00', nanos('2026-11-20T11:00:00Z')],
  ['2026-11-20T13:00:00', nanos('2026-11-20T13:00:00')],
  ['2026-11-20T13', nanos('2026-11-20T13:00:00')],
  ['2026-11-20', nanos('2026-11-20T00:00:00')],
  ['1763647200', 1_763_647_200_000_000_000n],
  ['1763647200.5', 1_763_647_200_500_000_000n],
  ['0', 0n],
])('%s is parsed', (text, expected) => {
  expect(parseSince(text, NOW)).toBe(expected);
});

test.each(['yesterday', '2026-13-40', '2026-02-30', '10 m', ''])('"%s" is rejected', (text) => {
  expect(() => parseSince(text, NOW)).toThrow(`invalid --since "${text}"`);
});

describe("crictl's since", () => {
  test('truncates a duration to seconds', () => {
    expect(parseSinceAsCrictl('10m', NOW + 999)).toEqual({seconds: NOW / 1000 - 600, nanos: 0});
  });

  test('is undefined for an empty string', () => {
    expect(parseSinceAsCrictl('', NOW)).toBeUndefined();
  });

  // Recorded from crictl 1.36.
  test.each([
    ['2026-13-40', 'parsing time "2026-13-40": month out of range'],
    ['2026-02-30', 'parsing time "2026-02-30": day out of range'],
    ['2026-11-20 10:00', 'parsing time "2026-11-20 10:00": extra text: " 10:00"'],
    ['not-a-date', 'parsing time "not-a-date" as "2006-01-02": cannot parse "not-a-date" as "2006"'],
    ['2026-11-20T25:00', 'parsing time "2026-11-20T25:00": hour out of range'],
    ['2026-11-20T10:00:61Z', 'parsing time "2026-11-20T10:00:61Z": second out of range'],
    [
      '2026-11-20T10:00:00.5x-01:00',
      'parsing time "2026-11-20T10:00:00.5x-01:00" as "2006-01-02T15:04:05.999999999Z07:00": cannot parse "x-01:00" as "Z07:00"',
    ],
    ['2026-11', 'parsing time "2026-11" as "2006-01-02": cannot parse "" as "-"'],
    ['12:00', 'failed to parse value as time or duration: "12:00"'],
    [
      '2026-11-20T10:00+1',
      'parsing time "2026-11-20T10:00+1" as "2006-01-02T15Z07:00": cannot parse ":00+1" as "Z07:00"',
    ],
  ])('%s is rejected with Go’s message', (text, message) => {
    expect(() => parseSinceAsCrictl(text, NOW)).toThrow(message);
  });
});
