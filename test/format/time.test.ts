import {afterEach, expect, test} from 'vitest';
import {formatGoTime, formatRfc3339Nano} from '../../src/format/time.js';

const zone = process.env['TZ'];
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

test.each([
  ['UTC', 1_763_647_200_000_000_000n, '2025-11-20T14:00:00Z', '2025-11-20 14:00:00 +0000 UTC'],
  ['UTC', 1_763_647_200_120_000_000n, '2025-11-20T14:00:00.12Z', '2025-11-20 14:00:00.12 +0000 UTC'],
  [
    'UTC',
    1_763_647_200_000_000_001n,
    '2025-11-20T14:00:00.000000001Z',
    '2025-11-20 14:00:00.000000001 +0000 UTC',
  ],
  [
    'America/New_York',
    1_763_647_200_500_000_000n,
    '2025-11-20T09:00:00.5-05:00',
    '2025-11-20 09:00:00.5 -0500 EST',
  ],
  [
    'Asia/Kolkata',
    1_763_647_200_000_000_000n,
    '2025-11-20T19:30:00+05:30',
    '2025-11-20 19:30:00 +0530 +0530',
  ],
  ['UTC', -1n, '1969-12-31T23:59:59.999999999Z', '1969-12-31 23:59:59.999999999 +0000 UTC'],
])('in %s %d is %s and %s', (tz, nanos, rfc3339, go) => {
  process.env['TZ'] = tz;
  expect(formatRfc3339Nano(nanos)).toBe(rfc3339);
  expect(formatGoTime(nanos)).toBe(go);
});
