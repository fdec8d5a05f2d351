const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'] as const;

/**
 * A size in bytes to a number of significant digits, in steps of 1000, as go-units' HumanSize writes it:
 * `2.851MB`. crictl shows images with 3 digits and everything else with 4.
 */
export function humanSize(bytes: bigint | number, digits = 4): string {
  let size = Number(bytes);
  let unit = 0;
  while (size >= 1000 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${general(size, digits)}${UNITS[unit] ?? ''}`;
}

/** Go's `%.{digits}g`: no trailing zeros, an exponent of at least two digits when the number needs one. */
function general(value: number, digits: number): string {
  const text = value.toPrecision(digits);
  const exponentAt = text.indexOf('e');
  if (exponentAt === -1) return withoutZeros(text);
  const exponent = text.slice(exponentAt + 2).padStart(2, '0');
  return `${withoutZeros(text.slice(0, exponentAt))}e${text.charAt(exponentAt + 1)}${exponent}`;
}

function withoutZeros(decimal: string): string {
  return decimal.endsWith('0') && decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
