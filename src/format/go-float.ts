/**
 * The shortest text of a float64 as Go's strconv writes it in format `g`: with an exponent below -4 and from 6
 * digits before the point on.
 */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  return power >= -4 && power < 6 ? String(value) : `${mantissa}e${exponentText(power)}`;
}

/** An exponent as Go writes it: with its sign and two digits at least. */
export function exponentText(power: number): string {
  return `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Go's `%.{digits}g` of 0 or a number from 0.0001 on: no trailing zeros, an exponent when the number needs one. */
export function generalText(value: number, digits: number): string {
  const text = toEven(value.toPrecision(digits), value.toExponential(digits), () =>
    value.toExponential(MOST_DIGITS),
  );
  const [mantissa = '', exponent] = text.split('e');
  return `${withoutZeros(mantissa)}${exponent === undefined ? '' : `e${exponentText(Number(exponent))}`}`;
}

/** Go's `%.{decimals}f`. */
export function fixedText(value: number, decimals: number): string {
  return toEven(value.toFixed(decimals), value.toFixed(decimals + 1), () => value.toFixed(MOST_DIGITS));
}

/** As many as JavaScript writes, and more than a number has whose half-way point can be met. */
const MOST_DIGITS = 100;

/**
 * Half-way between two texts JavaScript takes the larger, Go the even one. `longer` has one digit more than `rounded`,
 * `exact` all of them.
 */
function toEven(rounded: string, longer: string, exact: () => string): string {
  const last = /\d(?=e|$)/;
  if (last.exec(longer)?.[0] !== '5' || withoutTrailing(exact()) !== longer) return rounded;
  return rounded.replace(last, (digit) => String(Number(digit) - (Number(digit) % 2)));
}

/** A text of a number without the zeros at the end of its decimals. */
function withoutZeros(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}

/** The same of one that may have an exponent. */
function withoutTrailing(text: string): string {
  return text.replace(/0+(?=e|$)/, '');
}
