import * as Flags from '@oclif/core/flags';
import {parseDuration} from '../format/duration.js';
import type {ParseContext} from './parse.js';

/** The milliseconds of a Go duration (`1m30s`) or of bare seconds. Throws Error. */
export function durationMs(text: string): number {
  const nanos = parseDuration(/^-?\d+$/.test(text) ? `${text}s` : text);
  if (nanos === undefined) throw new Error('not a duration such as 1m30s');
  return Number(nanos) / 1e6;
}

/** A flag that takes a duration; its value is in milliseconds. crictl's have a unit always. */
export const durationFlag = Flags.custom<number>({
  parse: async (text, context: unknown) => {
    if ((context as ParseContext).compat && /\d$/.test(text) && Number(text) !== 0)
      throw new Error('missing unit in duration');
    return durationMs(text);
  },
});

/** A flag that takes a whole number. */
export const integerFlag = Flags.custom<number>({
  parse: async (text) => {
    if (!/^[+-]?\d{1,15}$/.test(text)) throw new Error('not a whole number');
    return Number(text);
  },
});

/** A flag that may be repeated and holds several values between commas, as crictl's do. */
export const listFlag = Flags.custom<string[]>({multiple: true, delimiter: ','});
