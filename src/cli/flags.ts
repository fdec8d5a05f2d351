import * as Flags from '@oclif/core/flags';
import {parseDuration} from '../format/duration.js';

/** A flag that takes a Go duration (`1m30s`), or bare seconds; its value is in milliseconds. */
export const durationFlag = Flags.custom<number>({
  parse: async (text) => {
    const nanos = parseDuration(/^-?\d+$/.test(text) ? `${text}s` : text);
    if (nanos === undefined) throw new Error('not a duration such as 1m30s');
    return Number(nanos) / 1e6;
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
