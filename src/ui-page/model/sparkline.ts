/** Paths of a small chart: its line, and the area below. */
export interface SparklinePaths {
  readonly line: string;
  readonly area: string;
}

/**
 * Returns the paths of a chart of numbers in a box, the newest at the right edge. `max` is the number at the upper edge;
 * unknown numbers leave a gap.
 */
export function sparklinePaths(
  numbers: readonly (number | null)[],
  {
    width,
    height,
    max,
    count,
  }: {
    readonly width: number;
    readonly height: number;
    readonly max: number;
    /** Number of samples that fill the box. */
    readonly count: number;
  },
): SparklinePaths {
  const step = width / Math.max(count - 1, 1);
  const start = width - (numbers.length - 1) * step;
  const runs = splitAtGaps(numbers.map((number, index) => ({x: start + index * step, number})));
  const lines = runs.map((run) =>
    run
      .map(({x, number}) => {
        const share = max <= 0 ? 0 : Math.max(0, Math.min(number / max, 1));
        return `${round(x)} ${round(height - share * (height - 1) - 0.5)}`;
      })
      .join('L'),
  );
  const areas = runs.map((run, index) => {
    const [first, last] = [run[0]?.x ?? 0, run.at(-1)?.x ?? 0];
    return `M${round(first)} ${height}L${lines[index] ?? ''}L${round(last)} ${height}Z`;
  });
  return {line: lines.map((points) => `M${points}`).join(''), area: areas.join('')};
}

interface Point {
  readonly x: number;
  readonly number: number;
}

function splitAtGaps(
  points: readonly {readonly x: number; readonly number: number | null}[],
): readonly Point[][] {
  const runs: Point[][] = [];
  let run: Point[] = [];
  for (const {x, number} of points) {
    if (number !== null) run.push({x, number});
    else if (run.length > 0) {
      runs.push(run);
      run = [];
    }
  }
  return run.length > 0 ? [...runs, run] : runs;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
