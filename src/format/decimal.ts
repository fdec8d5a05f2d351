import {formatGoExponent} from './go-float.js';

/** Decimal number: `digits` / 10 ^ `scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Formats a finite non-negative float64 like Go's `%f`, with `precision` digits after the point. */
export function formatFixed(size: number, precision: number): string {
  const {digits, scale} = exact(size);
  const shown = Math.min(precision, scale);
  const text = String(rounded(digits, scale - shown)).padStart(shown + 1, '0');
  const fraction = text.slice(text.length - shown, text.length).padEnd(precision, '0');
  return text.slice(0, text.length - shown) + (precision === 0 ? '' : `.${fraction}`);
}

/** Formats a finite non-negative float64 like Go's `%e`, with `precision` digits after the point. */
export function formatExponential(size: number, precision: number, letter: string): string {
  const {digits, power} = significant(size, precision + 1);
  return withExponent(digits.padEnd(precision + 1, '0'), power, letter);
}

/** Formats a finite non-negative float64 like Go's `%g`, with at threshold `precision` digits. */
export function formatGeneral(size: number, precision: number, letter: string): string {
  const maxDigits = Math.max(precision, 1);
  const {digits, power} = significant(size, maxDigits);
  const count = digits.length;
  const threshold = maxDigits > count && count > power ? count : maxDigits;
  if (power < -4 || power >= threshold) return withExponent(digits, power, letter);
  return formatFixed(size, Math.max(count - power - 1, 0));
}

function withExponent(digits: string, power: number, letter: string): string {
  const fraction = digits.slice(1);
  return `${digits.charAt(0)}${fraction === '' ? '' : `.${fraction}`}${letter}${formatGoExponent(power)}`;
}

/** Returns the first digits without trailing zeros, and the power of ten of the first one. */
function significant(size: number, count: number): {readonly digits: string; readonly power: number} {
  const {digits, scale} = exact(size);
  const length = String(digits).length;
  const text = String(rounded(digits, Math.max(length - count, 0)));
  const carried = text.length > Math.min(length, count) ? 1 : 0;
  return {digits: text.replace(/(?!^)0+$/, ''), power: length - 1 - scale + carried};
}

/** Returns all digits of a float64: its power of 2 is converted to a power of 10 with a power of 5. */
function exact(size: number): Decimal {
  const bits = new BigUint64Array(Float64Array.of(size).buffer)[0] ?? 0n;
  const [exponent, fraction] = [Number(bits >> 52n), bits & ((1n << 52n) - 1n)];
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n);
  const power = Math.max(exponent, 1) - 1075;
  if (mantissa === 0n) return {digits: 0n, scale: 0};
  return power >= 0
    ? {digits: mantissa << BigInt(power), scale: 0}
    : {digits: mantissa * 5n ** BigInt(-power), scale: -power};
}

/** Removes the last `places` digits; ties are rounded to even. */
function rounded(digits: bigint, places: number): bigint {
  const unit = 10n ** BigInt(places);
  const [quotient, twice] = [digits / unit, (digits % unit) * 2n];
  return twice > unit || (twice === unit && quotient % 2n === 1n) ? quotient + 1n : quotient;
}
