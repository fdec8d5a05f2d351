import type {RecordedCall} from './recorded-calls.js';

/** Start or end of a call in a recording. */
export interface CallEvent {
  readonly kind: 'start' | 'end';
  readonly call: RecordedCall;
  /** Time since the first event, in ms. */
  readonly atMs: number;
}

/**
 * Returns the starts and ends of calls in their recorded order, by which a replay is as concurrent as the recording: calls
 * that overlapped do again, and a call that began after another one ended waits for it. At the same time, ends are first.
 */
export function callEvents(calls: readonly RecordedCall[]): readonly CallEvent[] {
  const first = calls.reduce((least, {startMs}) => Math.min(least, startMs), Infinity);
  return calls
    .flatMap((call): CallEvent[] => [
      {kind: 'start', call, atMs: call.startMs - first},
      {kind: 'end', call, atMs: call.endMs - first},
    ])
    .sort(
      (a, b) =>
        a.atMs - b.atMs || (a.kind === b.kind ? a.call.number - b.call.number : a.kind === 'end' ? -1 : 1),
    );
}
