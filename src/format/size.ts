import {general} from './decimal.js';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'] as const;

/** Texts that were made, by their digits, where the point is, and the unit: a long list has few. */
const texts = new Map<number, string>();

/** What digits behind the point are numbers by. */
const SCALES = [1, 10, 100, 1000];

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
  const scale = SCALES[digits - (size < 10 ? 1 : size < 100 ? 2 : 3)];
  if (scale === undefined || (size > 0 && size < 1) || size >= 1000) return sizeText(size, digits, unit);
  const shown = roundedProduct(size, scale);
  const key = (shown * 1000 + scale) * UNITS.length + unit;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = sizeText(shown / scale, digits, unit);
  texts.set(key, text);
  return text;
}

function sizeText(size: number, digits: number, unit: number): string {
  return `${general(size, digits, 'e')}${UNITS[unit] ?? ''}`;
}

/** The integer next to the product, the even one of two, as if the product had all its digits. */
function roundedProduct(value: number, scale: number): number {
  const below = Math.floor(value * scale);
  const high = Math.fround(value);
  const above = high * scale - below + (value - high) * scale;
  return above > 0.5 || (above === 0.5 && below % 2 === 1) ? below + 1 : below;
}
