import * as Flags from '@oclif/core/flags';
import {parseBytes} from '../../format/parse-bytes.js';
import {requireInt64} from '../../format/go-integer.js';
import type {FlagSyntax} from '../../cli/parsing/parse-values.js';

/** Flag that takes an amount of memory. */
export const memoryFlag = Flags.custom<bigint>({
  parse: async (text, syntax: unknown) => requireInt64(((syntax as FlagSyntax).bytes ?? parseBytes)(text)),
});

/** Flag that takes an OOM score adjustment. */
export const oomScoreFlag = Flags.custom<bigint>({
  parse: async (text, syntax: unknown) => ((syntax as FlagSyntax).oomScore ?? parseOomScore)(text),
});

function parseOomScore(text: string): bigint {
  const score = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (!(Math.abs(score) <= 1000)) throw new Error('not an integer from -1000 to 1000');
  return BigInt(score);
}

/** Flag that takes a number of CPUs. */
export const cpusFlag = Flags.custom<number>({
  parse: async (text) => {
    if (!/^\d+(\.\d+)?$/.test(text) || Number(text) < 0.01)
      throw new Error('must be a number of CPUs such as 0.5 or 2');
    return Number(text);
  },
});
