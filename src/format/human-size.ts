import {formatGeneral} from './decimal.js';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'] as const;

/** Formatted texts by digits, position of the point, and unit: long lists repeat them. */
const texts = new Map<number, string>();

/** Divisors for digits after the point. */
const SCALES = [1, 10, 100, 1000];

/**
 * Formats a size in bytes with significant digits, in steps of 1000, like go-units' HumanSize: `2.851MB`. crictl uses 3
 * digits for images and 4 elsewhere.
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
  return `${formatGeneral(size, digits, 'e')}${UNITS[unit] ?? ''}`;
}

/** Rounds a product to the nearest integer, ties to even, as if the product were exact. */
function roundedProduct(value: number, scale: number): number {
  const below = Math.floor(value * scale);
  const high = Math.fround(value);
  const above = high * scale - below + (value - high) * scale;
  return above > 0.5 || (above === 0.5 && below % 2 === 1) ? below + 1 : below;
}
