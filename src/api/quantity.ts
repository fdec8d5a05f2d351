import {ConfigError} from '../base/errors.js';
import type {Quantity} from './types/v1-meta.js';

/** Suffix format of a quantity: `500m`, `64Mi` or `5e3`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** An exact amount with a resolution of 10^-9. */
export interface Amount {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

/** Resolution of quantities. */
export const NANOS_PER_UNIT = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;
/** Maximum exponent; a larger one is a mistake or an attack on memory. */
const LARGEST_EXPONENT = 100;
/** Maximum number of digits; more are an attack on CPU time. */
const LONGEST_TEXT = 100;
const LARGEST_BINARY_NANOS = (2n ** 63n - 1n) * NANOS_PER_UNIT;

const DECIMAL_SUFFIXES: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const SUFFIX_BY_EXPONENT = new Map(
  Object.entries(DECIMAL_SUFFIXES).map(([suffix, power]) => [power, suffix]),
);

const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;
const SYNTAX_PROBLEM =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX_PROBLEM = "unable to parse quantity's suffix";

interface Scale {
  /** Factor of a suffix: `numerator` × 10^`exponent`. */
  readonly numerator: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

/** Returns the factor of a suffix; throws ConfigError for an unknown one. */
export function scaleOf(suffix: string): Scale {
  const decimal = Object.hasOwn(DECIMAL_SUFFIXES, suffix) ? DECIMAL_SUFFIXES[suffix] : undefined;
  if (decimal !== undefined) return {numerator: 1n, exponent: decimal, format: 'DecimalSI'};
  const binary = (BINARY_SUFFIXES as readonly string[]).indexOf(suffix);
  if (binary > 0) return {numerator: 1024n ** BigInt(binary), exponent: 0, format: 'BinarySI'};
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1];
  if (exponent === undefined || Math.abs(Number(exponent)) > LARGEST_EXPONENT)
    throw new ConfigError(SUFFIX_PROBLEM);
  return {numerator: 1n, exponent: Number(exponent), format: 'DecimalExponent'};
}

/** Divides non-negative numbers, rounding up. */
function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

/** Divides by a unit, rounding away from zero. */
export function roundAwayFromZero(nanos: bigint, unit: bigint): bigint {
  return nanos < 0n ? -divideUp(-nanos, unit) : divideUp(nanos, unit);
}

interface QuantityText {
  readonly negative: boolean;
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

/** Splits a quantity into its parts; throws ConfigError for an invalid one. */
export function splitQuantity(text: string): QuantityText {
  const match = text.length > LONGEST_TEXT ? null : SYNTAX.exec(text);
  // As upstream, a missing number before a suffix is zero, but an empty text is an error.
  if (match === null || text === '') throw new ConfigError(SYNTAX_PROBLEM);
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  return {negative: sign === '-', whole, fraction, suffix};
}

/**
 * Parses a Kubernetes quantity exactly (resource.ParseQuantity). Fractions smaller than 10^-9 are rounded up, away from
 * zero, and binary amounts are limited to 2^63-1.
 *
 * @throws ConfigError with upstream's message for an invalid quantity.
 */
export function parseQuantity(text: Quantity): Amount {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const amount = parseUncached(text);
  if (parsed.size >= MOST_PARSED) parsed.clear();
  parsed.set(text, amount);
  return amount;
}

/** Cache of parsed quantities: every sync of every pod parses the same few. */
const parsed = new Map<Quantity, Amount>();
const MOST_PARSED = 1000;

function parseUncached(text: Quantity): Amount {
  const {negative, whole, fraction, suffix} = splitQuantity(text);
  const {numerator, exponent, format} = scaleOf(suffix);

  const digits = BigInt(`0${whole}${fraction}`) * numerator;
  const shift = exponent - fraction.length + 9;
  const nanos = shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift));
  return format === 'BinarySI' ? binaryAmount(nanos, negative) : {nanos: negative ? -nanos : nanos, format};
}

function binaryAmount(magnitude: bigint, negative: boolean): Amount {
  const nanos = magnitude > LARGEST_BINARY_NANOS ? LARGEST_BINARY_NANOS : magnitude;
  const lessThanOne = nanos > 0n && nanos < NANOS_PER_UNIT;
  return {nanos: negative ? -nanos : nanos, format: lessThanOne ? 'DecimalSI' : 'BinarySI'};
}

/** Reports whether a text is a valid quantity. */
export function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}

/** Divides by `base` as long as the result is exact, at most `limit` times. */
function factorOut(
  value: bigint,
  base: bigint,
  limit: number,
): {readonly value: bigint; readonly times: number} {
  let times = 0;
  while (times < limit && value % base === 0n) {
    value /= base;
    times += 1;
  }
  return {value, times};
}

function formatBinary(nanos: bigint): string {
  const {value, times} = factorOut(nanos / NANOS_PER_UNIT, 1024n, BINARY_SUFFIXES.length - 1);
  return `${value}${BINARY_SUFFIXES[times] ?? ''}`;
}

function formatDecimal(nanos: bigint, format: QuantityFormat): string {
  const exponential = format === 'DecimalExponent';
  const {value, times} = factorOut(nanos, 1000n, exponential ? LARGEST_EXPONENT : 9);
  const exponent = times * 3 - 9;
  if (exponential) return exponent === 0 ? `${value}` : `${value}e${exponent}`;
  return `${value}${SUFFIX_BY_EXPONENT.get(exponent) ?? ''}`;
}

/** Formats a quantity canonically: no fraction, the largest exact suffix of the same format (Quantity.String). */
export function formatAmount({nanos, format}: Amount): Quantity {
  if (nanos === 0n) return '0';
  const whole = nanos % NANOS_PER_UNIT === 0n;
  const small = nanos > -1024n * NANOS_PER_UNIT && nanos < 1024n * NANOS_PER_UNIT;
  return format === 'BinarySI' && whole && !small
    ? formatBinary(nanos)
    : formatDecimal(nanos, format === 'BinarySI' ? 'DecimalSI' : format);
}

/** Returns the canonical form of a quantity: `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. */
export function canonicalizeQuantity(quantity: Quantity): Quantity {
  return formatAmount(parseQuantity(quantity));
}

/** Returns a quantity with the largest binary suffix that is exact: `1048576` becomes `1Mi`. */
export function toBinaryQuantity(quantity: Quantity): Quantity {
  return formatAmount({...parseQuantity(quantity), format: 'BinarySI'});
}

/** Returns the amount in whole units, rounded away from zero: bytes of `64Mi`, 2 cores of `1500m` (Quantity.Value). */
export function quantityValue(quantity: Quantity): bigint {
  return roundAwayFromZero(parseQuantity(quantity).nanos, NANOS_PER_UNIT);
}

/** Returns the amount in thousandths, rounded away from zero: milli-CPUs of `1.5` (Quantity.MilliValue). */
export function quantityMilliValue(quantity: Quantity): bigint {
  return roundAwayFromZero(parseQuantity(quantity).nanos, NANOS_PER_MILLI);
}

/** Compares two quantities: negative, zero or positive (Quantity.Cmp). */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const difference = parseQuantity(a).nanos - parseQuantity(b).nanos;
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Returns the exact sum, in the format of `a` unless `a` is zero (Quantity.Add). */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  const format = left.nanos === 0n ? right.format : left.format;
  return formatAmount({nanos: left.nanos + right.nanos, format});
}

/** Rounds away from zero to thousandths, as the API server does for resource lists (SetDefaults_ResourceList). */
export function roundUpToMilli(quantity: Quantity): Quantity {
  const {nanos, format} = parseQuantity(quantity);
  return formatAmount({nanos: roundAwayFromZero(nanos, NANOS_PER_MILLI) * NANOS_PER_MILLI, format});
}
