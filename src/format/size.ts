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
  const [mantissa = '', exponent] = value.toPrecision(digits).split('e');
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  if (exponent === undefined) return short;
  return `${short}e${exponent.charAt(0)}${exponent.slice(1).padStart(2, '0')}`;
}
