/**
 * Draws numbers as bars, one cell each, right-aligned in `width` cells. `max` is the number of the highest bar; numbers
 * above zero always differ from a blank.
 */
export function drawSparkline(
  numbers: readonly number[],
  {width, max, bars}: {readonly width: number; readonly max: number; readonly bars: readonly string[]},
): string {
  const shown = numbers.slice(-width);
  const drawn = shown.map((number) => {
    const share = max <= 0 ? 0 : Math.max(0, Math.min(number / max, 1));
    return bars[Math.min(Math.floor(share * bars.length), bars.length - 1)] ?? ' ';
  });
  return drawn.join('').padStart(Math.max(width, 0));
}
