import {formatDuration} from '../../../format/duration.js';

/** Result of a probe. */
export type ProbeHandlerResult =
  | {
      /** Result of an executed probe; a warning counts as a success. */
      readonly result: 'success' | 'warning' | 'failure';
      readonly output: string;
    }
  /** Error of a probe that could not be executed; its result is unknown. */
  | {readonly result: 'error'; readonly state: 'unknown' | 'failure'; readonly output: string};

export const success = (output = ''): ProbeHandlerResult => ({result: 'success', output});
export const failure = (output: string): ProbeHandlerResult => ({result: 'failure', output});

/** Formats seconds like a Go duration: `1s`, `1m5s`. */
export function formatGoSeconds(seconds: number): string {
  return formatDuration(BigInt(seconds) * 1_000_000_000n);
}
