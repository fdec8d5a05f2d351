import {UsageError} from '../../base/errors.js';

/** Values of the flags that decide whether to pull. */
export interface PullDecisionFlags {
  readonly 'no-pull': boolean;
  readonly 'with-pull': boolean;
}

/** Reports whether to pull, by the flags or else by the config file. Throws UsageError if both flags are set. */
export function shouldPull(flags: PullDecisionFlags, configured: boolean): boolean {
  if (flags['no-pull'] && flags['with-pull'])
    throw new UsageError('conflict: no-pull and with-pull are both set');
  return flags['with-pull'] || (configured && !flags['no-pull']);
}
