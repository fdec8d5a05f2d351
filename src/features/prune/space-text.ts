import {humanSize} from '../../format/human-size.js';
import type {SpaceRange} from '../../operations/prune/freed-space.js';

/** Number of significant digits of sizes, as in lists of images. */
const DIGITS = 3;

/** Formats an amount of space: `12MB`, or `10MB to 12MB` if it is not known exactly. */
export function spaceText({min, max}: SpaceRange): string {
  const [least, most] = [min, max].map((bytes) => humanSize(bytes, DIGITS));
  if (least === most) return most ?? '';
  return min === 0n ? `up to ${most ?? ''}` : `${least ?? ''} to ${most ?? ''}`;
}
