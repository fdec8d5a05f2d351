import {goQuote} from '../../format/go-quote.js';
import {parseGoInteger} from '../../format/go-integer.js';
import {durationFault, parseDuration} from '../../format/duration.js';
import {durationMs} from '../flags/flag-types.js';
import type {FlagSyntax} from '../parsing/parse-values.js';
import {FlagError} from '../parsing/usage-errors.js';

/** Throws FlagError with crictl's message for an invalid CRICTL_PULL_TIMEOUT, which it reads before the command line. */
export function checkPullTimeout(env: Readonly<Record<string, string | undefined>>): void {
  const value = env['CRICTL_PULL_TIMEOUT'] ?? '';
  if (value !== '' && parseDuration(value) === undefined)
    throw new FlagError(
      `could not parse ${goQuote(value)} as duration value from environment variable "CRICTL_PULL_TIMEOUT" for ` +
        `flag pull-timeout: ${durationFault(value)}`,
    );
}

/** Parsers of crictl's flag values, with Go's errors. */
export const CRICTL_FLAG_SYNTAX: FlagSyntax = {
  // A duration requires a unit.
  durationMs: (text) => {
    if (/\d$/.test(text) && Number(text) !== 0) throw new Error('missing unit in duration');
    return durationMs(text);
  },
  integer: parseGoInteger,
  bytes: parseGoInteger,
  // crictl accepts any text and parses everything except numbers as 0.
  oomScore: (text) => {
    try {
      return parseGoInteger(text);
    } catch {
      return 0n;
    }
  },
  emptyValue: () => undefined,
  invalidValue: ({value, spelling}, _flag, error) => {
    const what = error instanceof RangeError ? error.message : 'parse error';
    return new FlagError(`invalid value ${goQuote(String(value))} for flag -${spelling}: ${what}`, {
      cause: error,
    });
  },
};
