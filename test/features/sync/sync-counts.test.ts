import {expect, test} from 'vitest';
import {formatTotals, type SyncTotals} from '../../../src/features/sync/sync-counts.js';

const NONE = {ready: 0, complete: 0, failed: 0, timedOut: 0, interrupted: 0};
const totals = (counts: Partial<SyncTotals>): SyncTotals => ({
  ...NONE,
  pods: 0,
  durationMs: 12_000,
  ...counts,
});

test.each([
  [{ready: 1, durationMs: 640}, '1 pod ready in 640ms'],
  [{complete: 2, failed: 1}, '2 pods complete, 1 failed in 12.0s'],
  [{failed: 1, timedOut: 2}, '1 pod failed, 2 timed out in 12.0s'],
  [{}, '0 pods in 12.0s'],
  [{interrupted: 3}, '3 pods interrupted in 12.0s'],
])('%j is "%s"', (counts, text) => {
  expect(formatTotals(totals(counts))).toBe(text);
});
