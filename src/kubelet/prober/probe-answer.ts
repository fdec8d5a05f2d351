import {formatDuration} from '../../format/duration.js';

/** What one probe brought. */
export type ProbeAnswer =
  | {
      /** A warning counts as a success. */
      readonly result: 'success' | 'warning' | 'failure';
      readonly output: string;
    }
  /** It could not be carried out, which says nothing of the container. */
  | {readonly result: 'error'; readonly state: 'unknown' | 'failure'; readonly output: string};

export const success = (output = ''): ProbeAnswer => ({result: 'success', output});
export const failure = (output: string): ProbeAnswer => ({result: 'failure', output});

/** Seconds as Go prints them: `1s`, `1m5s`. */
export function goSeconds(seconds: number): string {
  return formatDuration(BigInt(seconds) * 1_000_000_000n);
}
