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
