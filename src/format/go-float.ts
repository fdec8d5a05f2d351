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
