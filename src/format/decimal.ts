import {exponentText} from './go-float.js';

/** A number of decimal digits: `digits` / 10 ^ `scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** A finite float64 of 0 or more as `%f` writes it, with `precision` digits behind the point. */
export function fixed(size: number, precision: number): string {
  const {digits, scale} = exact(size);
  const shown = Math.min(precision, scale);
  const text = String(rounded(digits, scale - shown)).padStart(shown + 1, '0');
  const fraction = text.slice(text.length - shown, text.length).padEnd(precision, '0');
  return text.slice(0, text.length - shown) + (precision === 0 ? '' : `.${fraction}`);
}

/** A finite float64 of 0 or more as `%e` writes it, with `precision` digits behind the point. */
export function exponential(size: number, precision: number, letter: string): string {
  const {digits, power} = significant(size, precision + 1);
  return withExponent(digits.padEnd(precision + 1, '0'), power, letter);
}

/** A finite float64 of 0 or more as `%g` writes it, with no more than `precision` digits. */
export function general(size: number, precision: number, letter: string): string {
  const wanted = Math.max(precision, 1);
  const {digits, power} = significant(size, wanted);
  const count = digits.length;
  const most = wanted > count && count > power ? count : wanted;
  if (power < -4 || power >= most) return withExponent(digits, power, letter);
  return fixed(size, Math.max(count - power - 1, 0));
}

function withExponent(digits: string, power: number, letter: string): string {
  const fraction = digits.slice(1);
  return `${digits.charAt(0)}${fraction === '' ? '' : `.${fraction}`}${letter}${exponentText(power)}`;
}

/** The first digits, no zeros at their end, and the power of ten of the very first. */
function significant(size: number, count: number): {readonly digits: string; readonly power: number} {
  const {digits, scale} = exact(size);
  const length = String(digits).length;
  const text = String(rounded(digits, Math.max(length - count, 0)));
  const carried = text.length > Math.min(length, count) ? 1 : 0;
  return {digits: text.replace(/(?!^)0+$/, ''), power: length - 1 - scale + carried};
}

/** All digits of a float64: what it is times a power of 2, which a power of 5 makes a power of 10. */
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

/** Without the last `places` digits; halves go to the even digit. */
function rounded(digits: bigint, places: number): bigint {
  const unit = 10n ** BigInt(places);
  const [whole, twice] = [digits / unit, (digits % unit) * 2n];
  return twice > unit || (twice === unit && whole % 2n === 1n) ? whole + 1n : whole;
}
