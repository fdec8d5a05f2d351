import {expect, test} from 'vitest';
import {parseSince} from '../../../src/operations/logs/since.js';

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
])('%s is a moment', (text, moment) => {
  expect(parseSince(text, NOW)).toBe(moment);
});

test.each(['yesterday', '2026-13-40', '10 m', ''])('"%s" is refused with examples', (text) => {
  expect(() => parseSince(text, NOW)).toThrow(`"${text}" is no time for --since`);
});
