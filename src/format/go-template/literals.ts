import {goQuote} from '../go-quote.js';
import type {NumberConstant} from './nodes.js';

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** Parses a number literal. Returns Go's error message if it is invalid. */
export function parseNumber(text: string): NumberConstant | string {
  const int = parseInteger(text);
  const looksFloat = /[.eEpP]/.test(text) && !/^[+-]?0[xX][^pP]*$/.test(text);
  if (int !== undefined && int >= MIN_INT && int <= MAX_INT)
    return looksFloat ? {type: 'float64', value: Number(int)} : {type: 'int', value: int};
  if (int !== undefined && int <= MAX_UINT && int > 0n) return {type: 'uint64'};
  if (int !== undefined) return `integer overflow: ${goQuote(text)}`;
  const float = parseFloat64(text);
  return float === undefined ? `illegal number syntax: ${goQuote(text)}` : {type: 'float64', value: float};
}

/** Parses Go's integer literals: `12`, `-0x1f`, `0b101`, `017`, `1_000`. */
function parseInteger(text: string): bigint | undefined {
  const [, sign = '', digits = ''] = /^([+-]?)(.*)$/.exec(text) ?? [];
  if (!/^(0[xX](_?[\da-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+|0(_?[0-7])*|[1-9](_?\d)*)$/.test(digits))
    return undefined;
  const plain = digits.replaceAll('_', '');
  const value = BigInt(/^0\d/.test(plain) ? `0o${plain.slice(1)}` : plain);
  return sign === '-' ? -value : value;
}

function parseFloat64(text: string): number | undefined {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
