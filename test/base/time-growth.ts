/** Number of runs of each size, of which the fastest counts. */
const RUNS = 3;
/** Factor by which the input grows. */
const GROWTH = 8;
/** Processor time that is added to each size, in microseconds, since a run of less is mostly chance (memory, collection). */
const CHANCE = 2000;

/**
 * Returns the factor by which the processor time of `work` grows with an input that is eight times as large: about 8 if
 * it is linear and 64 if it is quadratic, on every machine, or less if the larger input takes only milliseconds. `size` is
 * that of the larger input.
 */
export function measureTimeGrowth(size: number, work: (size: number) => void): number {
  const small = fastestRun(() => {
    work(size / GROWTH);
  });
  const large = fastestRun(() => {
    work(size);
  });
  return (large + CHANCE) / (small + CHANCE);
}

/** Factor between that of linear and of quadratic work. */
export const LINEAR_GROWTH = 28;

function fastestRun(work: () => void): number {
  const times = Array.from({length: RUNS}, () => {
    const before = process.cpuUsage();
    work();
    const {user, system} = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...times);
}
