import type {ForegroundSyncResult} from '../../kubelet/index.js';
import {formatElapsed} from '../../format/duration.js';

/** Number of pods by their result. */
export interface SyncCounts {
  readonly ready: number;
  readonly complete: number;
  readonly failed: number;
  readonly timedOut: number;
  readonly interrupted: number;
}

/** Summary of a sync. */
export interface SyncTotals extends SyncCounts {
  readonly pods: number;
  readonly durationMs: number;
}

/** Returns the name under which the result of a pod is counted. */
export function countedAs(result: ForegroundSyncResult): keyof SyncCounts {
  switch (result.kind) {
    case 'ready':
      return 'ready';
    case 'complete':
      return result.exitCode === 0 ? 'complete' : 'failed';
    case 'timeout':
      return 'timedOut';
    case 'interrupted':
      return 'interrupted';
    case 'broken':
    case 'gated':
    case 'failed':
      return 'failed';
  }
}

/** Counts the results. */
export function countResults(results: readonly ForegroundSyncResult[], durationMs: number): SyncTotals {
  const counts = {ready: 0, complete: 0, failed: 0, timedOut: 0, interrupted: 0};
  for (const result of results) counts[countedAs(result)] += 1;
  return {pods: results.length, ...counts, durationMs};
}

const WORDS = {
  ready: 'ready',
  complete: 'complete',
  failed: 'failed',
  timedOut: 'timed out',
  interrupted: 'interrupted',
} as const satisfies Record<keyof SyncCounts, string>;

/** Formats the totals as `2 pods complete, 1 failed in 12s`, or `0 pods in 12s` without a result. */
export function formatTotals({durationMs, ...counts}: SyncTotals): string {
  const words = Object.entries(WORDS)
    .map(([kind, word]) => ({count: counts[kind as keyof SyncCounts], word}))
    .filter(({count}) => count > 0)
    .map(({count, word}, index) => {
      const noun = count === 1 ? ' pod' : ' pods';
      return `${count}${index === 0 ? noun : ''} ${word}`;
    });
  return `${words.length === 0 ? '0 pods' : words.join(', ')} in ${formatElapsed(durationMs)}`;
}
