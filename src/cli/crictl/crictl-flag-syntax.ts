import {parseBytes} from '../../format/parse-bytes.js';
import {durationMs} from '../flags/flag-types.js';
import type {FlagSyntax} from '../parsing/parse-values.js';
import {FlagError} from '../usage-errors.js';

/** Parsers of crictl's flag values, with Go's errors. */
export const CRICTL_FLAG_SYNTAX: FlagSyntax = {
  // A duration requires a unit.
  durationMs: (text) => {
    if (/\d$/.test(text) && Number(text) !== 0) throw new Error('missing unit in duration');
    return durationMs(text);
  },
  bytes: (text) => {
    if (!/^[+-]?\d+$/.test(text)) throw new Error('parse error');
    return parseBytes(text);
  },
  // crictl accepts any text and parses everything except numbers as 0.
  oomScore: (text) => (/^[+-]?\d{1,15}$/.test(text) ? Number(text) : 0),
  emptyValue: () => undefined,
  invalidValue: ({value, spelling}, _flag, error) =>
    new FlagError(`invalid value "${value}" for flag -${spelling}: parse error`, {cause: error}),
};
