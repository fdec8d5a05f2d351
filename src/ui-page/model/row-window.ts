/** Rows outside the screen that are rendered on each side, so that scrolling does not show gaps. */
const OVERSCAN = 12;

/** Part of a long list that is rendered. */
export interface RowWindow {
  /** Index of the first rendered row. */
  readonly first: number;
  /** Index behind the last rendered row. */
  readonly end: number;
}

/**
 * Returns which of `count` rows of equal height to render. `top` is how far the list is scrolled beyond the upper edge of
 * the screen in pixels, negative if it starts below. The window moves in steps, so that most scrolling renders nothing.
 */
export function rowWindow(
  count: number,
  {top, height, rowHeight}: {readonly top: number; readonly height: number; readonly rowHeight: number},
): RowWindow {
  const step = OVERSCAN / 2;
  const visible = Math.floor(top / rowHeight / step) * step;
  const first = clamp(visible - OVERSCAN, 0, Math.max(count - 1, 0));
  const end = clamp(visible + Math.ceil(height / rowHeight) + OVERSCAN + step, first, count);
  return {first, end};
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}
