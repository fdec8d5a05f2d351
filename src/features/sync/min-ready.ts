import {UsageError, messageOf} from '../../base/errors.js';
import {durationMs} from '../../cli/flags/flag-types.js';

const VARIABLE = 'KCRI_MIN_READY';

/** Long enough for a process that fails at its start, such as one with an invalid configuration. */
const DEFAULT_MS = 1000;

/**
 * Returns the time that a container without a probe must run before it counts as ready, in ms: that of the flag, of the
 * environment, or else the default. Throws UsageError.
 */
export function minReadyOf(
  flagMs: number | undefined,
  env: Readonly<Record<string, string | undefined>>,
): number {
  const given = env[VARIABLE] ?? '';
  if (flagMs !== undefined || given === '') return flagMs ?? DEFAULT_MS;
  try {
    return durationMs(given);
  } catch (error) {
    throw new UsageError(`invalid ${VARIABLE} "${given}": ${messageOf(error)}`, {cause: error});
  }
}
