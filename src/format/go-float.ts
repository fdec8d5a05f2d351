/**
 * Formats a float64 like Go's strconv with format `g` and the shortest precision, with an exponent for powers of ten
 * below -4 and from 6.
 */
export function formatGoFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  return power >= -4 && power < 6 ? String(value) : `${mantissa}e${formatGoExponent(power)}`;
}

/** Formats an exponent like Go: with its sign and at least two digits. */
export function formatGoExponent(power: number): string {
  return `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
