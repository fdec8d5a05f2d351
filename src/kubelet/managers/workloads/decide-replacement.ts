import type {PodPhase} from '../../../api/types/v1-status.js';

/** Delay after the first failure of a pod and its maximum, in ms, as for the restart of a container. */
const FIRST_DELAY_MS = 10_000;
const MAX_DELAY_MS = 300_000;

/** Failures of a pod that its workload replaces. */
export interface FailureState {
  /** Consecutive failures. */
  readonly count: number;
  /** Time of the failure that is not replaced yet, in ms of the monotonic clock. */
  readonly failedAtMs: number | undefined;
}

/** Decision about a pod, and the failures to remember. */
export interface ReplacementDecision {
  readonly failures: FailureState | undefined;
  /** True if the failed pod is to be removed now; a new one takes its place when it is gone. */
  readonly isRemoved: boolean;
  /** Time of the next decision, in ms of the monotonic clock. */
  readonly checkAtMs?: number;
}

/** Returns when a failed pod is replaced: after 10 s, doubled up to 5 min for each further failure without success. */
export function decideReplacement(
  failures: FailureState | undefined,
  {phase, isAvailable}: {readonly phase: PodPhase | undefined; readonly isAvailable: boolean},
  nowMs: number,
): ReplacementDecision {
  if (phase !== 'Failed') return {failures: isAvailable ? undefined : failures, isRemoved: false};
  const {count = 0, failedAtMs} = failures ?? {};
  const next = failedAtMs === undefined ? {count: count + 1, failedAtMs: nowMs} : {count, failedAtMs};
  const checkAtMs = next.failedAtMs + Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (next.count - 1));
  if (nowMs < checkAtMs) return {failures: next, isRemoved: false, checkAtMs};
  return {failures: {count: next.count, failedAtMs: undefined}, isRemoved: true};
}
