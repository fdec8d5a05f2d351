import {NANOS_PER_UNIT, roundAwayFromZero, scaleOf, splitQuantity} from '../quantity.js';
import type {QuantityArithmetic} from '../resource-list.js';
import type {Quantity} from '../types/v1-meta.js';

/** A quantity as Go stores it: `value` × 10^`scale`, either as an int64 or as a decimal of any size. */
interface GoQuantity {
  readonly value: bigint;
  readonly scale: number;
  readonly isDecimal: boolean;
  /** Text that Go keeps if it is canonical already. */
  readonly text: string;
  readonly format: string;
}

const ZERO: GoQuantity = {value: 0n, scale: 0, isDecimal: false, text: '', format: ''};
/** Digits that always fit in an int64, and those beside a factor of 1024^n. */
const INT64_DIGITS = 18;
const BINARY_DIGITS = 14;
const MOST_INT64 = 2n ** 63n - 1n;
const WORD = 2n ** 64n;
const NANO = -9;
const MILLI = -3;
/** Separator of the parts of a sum; no quantity contains it. */
const SEPARATOR = ' ';

/** Parses a quantity, an absent one, which is an empty text, or a sum. */
function parse(text: Quantity): GoQuantity {
  if (text === '') return ZERO;
  const [value = '', scale, isDecimal, format = ''] = text.split(SEPARATOR);
  if (scale === undefined) return parseWritten(text);
  return {value: BigInt(value), scale: Number(scale), isDecimal: isDecimal === 'true', text: '', format};
}

/** Adds quantities as Go does; the sum is a text that only this arithmetic and dumpQuantity read (Quantity.Add). */
function add(a: Quantity, b: Quantity): Quantity {
  const [left, right] = [parse(a), parse(b)];
  const format = left.value === 0n ? right.format : left.format;
  const exact = addExactly(left, right);
  const isDecimal = left.isDecimal || right.isDecimal || exact.value > MOST_INT64;
  return [exact.value, exact.scale, isDecimal, format].join(SEPARATOR);
}

function addExactly(left: GoQuantity, right: GoQuantity): Pick<GoQuantity, 'value' | 'scale'> {
  const isInteger = !left.isDecimal && !right.isDecimal;
  if (isInteger && right.value === 0n) return left;
  if (isInteger && left.value === 0n) return right;
  const scale = Math.min(left.scale, right.scale);
  const [a, b] = [left, right].map((one) => rescale(one.value, one.scale, scale).value);
  return {value: (a ?? 0n) + (b ?? 0n), scale};
}

function compare(a: Quantity, b: Quantity): number {
  const [left, right] = [parse(a), parse(b)];
  const difference = addExactly(left, {...right, value: -right.value}).value;
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Arithmetic that keeps what Go prints of quantities. */
export const GO_ARITHMETIC: QuantityArithmetic = {add, compare};

/** Parses a quantity into Go's fields (resource.ParseQuantity). */
function parseWritten(text: Quantity): GoQuantity {
  if (text === '0') return {...ZERO, text, format: 'DecimalSI'};
  const {negative, whole, fraction, suffix} = splitQuantity(text);
  const {numerator, exponent, format} = scaleOf(suffix);
  const isBinary = format === 'BinarySI';
  const number = whole.replace(/^0+/, '') || '0';
  const digits = `${number}${fraction}`;
  const scale = exponent - fraction.length;
  const magnitude = BigInt(digits) * numerator;
  const value = negative ? -magnitude : magnitude;
  const binaryPower = numerator.toString(2).length - 1;
  const room = isBinary
    ? fraction === ''
      ? BINARY_DIGITS - number.length - Math.floor((binaryPower * 3) / 10)
      : -1
    : INT64_DIGITS - digits.length;
  if (room < 0 || scale < NANO) return decimal({magnitude, scale, negative, isBinary, format});
  const isCanonical = isBinary
    ? BigInt(digits) % 8n !== 0n
    : scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
  return {value, scale, isDecimal: false, text: isCanonical ? text : '', format};
}

interface DecimalText {
  readonly magnitude: bigint;
  readonly scale: number;
  readonly negative: boolean;
  readonly isBinary: boolean;
  readonly format: string;
}

/** Returns a quantity with more digits than an int64 has, or with a fraction of a binary unit. */
function decimal({magnitude, scale, negative, isBinary, format}: DecimalText): GoQuantity {
  const rounded = magnitude === 0n ? {value: 0n, scale} : rescale(magnitude, scale, NANO);
  const isCapped = isBinary && rounded.value > MOST_INT64 * NANOS_PER_UNIT;
  const {value, scale: at} = isCapped ? {value: MOST_INT64, scale: 0} : rounded;
  const isFraction = isBinary && !isCapped && value > 0n && value < NANOS_PER_UNIT;
  return {
    value: negative ? -value : value,
    scale: at,
    isDecimal: true,
    text: '',
    format: isFraction ? 'DecimalSI' : format,
  };
}

/** Returns the amount with another scale, rounded away from zero. */
function rescale(value: bigint, from: number, to: number): Pick<GoQuantity, 'value' | 'scale'> {
  if (from >= to) return {value: value * 10n ** BigInt(from - to), scale: to};
  const unit = 10n ** BigInt(to - from);
  return {value: roundAwayFromZero(value, unit), scale: to};
}

/** Rounds up to thousandths (Quantity.RoundUp). */
function roundUp(quantity: GoQuantity): GoQuantity {
  if (!quantity.isDecimal && quantity.scale >= MILLI) return quantity;
  return {...quantity, ...rescale(quantity.value, quantity.scale, MILLI), text: ''};
}

function dumpDecimal({value, scale}: GoQuantity): string {
  const words: bigint[] = [];
  for (let rest = value < 0n ? -value : value; rest > 0n; rest /= WORD) words.push(rest % WORD);
  const number = `{neg:(bool)${value < 0n} abs:(big.nat)${words.length === 0 ? '<nil>' : `[${words.join(' ')}]`}}`;
  return `(*inf.Dec){unscaled:(big.Int)${number} scale:(inf.Scale)${-scale}}`;
}

/** Prints the fields of a quantity as Go's spew does; those of a resource list are rounded to thousandths. */
export function dumpQuantity(text: Quantity, {rounded}: {readonly rounded: boolean}): string {
  const parsed = parse(text);
  const quantity = rounded ? roundUp(parsed) : parsed;
  const {value, scale} = quantity.isDecimal ? ZERO : quantity;
  const amount = `i:(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`;
  const big = `d:(resource.infDecAmount){Dec:${quantity.isDecimal ? dumpDecimal(quantity) : '(*inf.Dec)<nil>'}}`;
  return `{${amount} ${big} s:(string)${quantity.text} Format:(resource.Format)${quantity.format}}`;
}
