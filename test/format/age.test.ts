import {expect, test} from 'vitest';
import {formatRfc1123} from '../../src/format/rfc1123.js';
import {formatAgeSince, formatAge} from '../../src/format/age.js';

const [S, M, H, D] = [1000, 60_000, 3_600_000, 86_400_000];

test.each([
  [0, '0s'],
  [-1.5 * S, '0s'],
  [-2 * S, '<invalid>'],
  [119 * S, '119s'],
  [2 * M, '2m'],
  [5 * M + 2 * S, '5m2s'],
  [10 * M + 2 * S, '10m'],
  [179 * M, '179m'],
  [3 * H, '3h'],
  [7 * H + 59 * M, '7h59m'],
  [8 * H + 59 * M, '8h'],
  [47 * H, '47h'],
  [2 * D + 4 * H, '2d4h'],
  [7 * D, '7d'],
  [8 * D + 4 * H, '8d'],
  [700 * D, '700d'],
  [2 * 365 * D, '2y'],
  [3 * 365 * D + 5 * D, '3y5d'],
  [9 * 365 * D + 5 * D, '9y'],
])('%d ms are %s', (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});

test('an age without a time is <unknown>', () => {
  expect(formatAgeSince(undefined, 0)).toBe('<unknown>');
  expect(formatAgeSince('1970-01-01T00:00:10Z', 130_000)).toBe('2m');
});

test('times are formatted in the local zone like Go', () => {
  const text = formatRfc1123('2026-11-01T09:08:07Z');
  expect(text).toMatch(/^(Sat|Sun), \d\d (Oct|Nov) 2026 \d\d:\d\d:07 [+-]\d{4}$/);
  expect(new Date(text).toISOString()).toBe('2026-11-01T09:08:07.000Z');
  expect(formatRfc1123(undefined)).toBe('Mon, 01 Jan 0001 00:00:00 +0000');
});
