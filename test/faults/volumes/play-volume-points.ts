import {systemClock} from '../../../src/base/clock.js';
import type {KubeletProcesses} from '../killable-driver.js';
import type {CaseOrder, PointReport} from '../point-report.js';
import {playVolumes} from './play-volumes.js';
import {describeVolumePoint, planVolumePoints, type Aftermath, type VolumePoint} from './volume-point.js';

/** What {@link playVolumePoints} works with. */
export interface VolumePointsOptions {
  readonly aftermath: Aftermath;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly report: (point: PointReport) => void;
  readonly processes: KubeletProcesses;
}

const CONCURRENCY = 5;

/** Plays the points of pods with CSI volumes that have an aftermath, and reports each. */
export async function playVolumePoints(
  {caseName, every, only = '', minutes, played = []}: CaseOrder,
  {aftermath, random, report, processes}: VolumePointsOptions,
): Promise<void> {
  const untilMs = systemClock.monotonic() + minutes * 60_000;
  const base = await playVolumes({}, processes);
  report({caseName, kind: 'none', point: 'no fault', wasReached: true, violations: base.violations});
  const run = {steps: base.steps?.length ?? 0, methods: base.methods};
  const isPlayed = new Set(played.map(withoutStep));
  const points = planVolumePoints(aftermath, run, (n) => Math.floor(random() * n))
    .filter(() => random() * every < 1)
    .filter(
      (point) => describeVolumePoint(point).includes(only) && !isPlayed.has(describeVolumePoint(point)),
    );
  // Those that are played before the time is up are a random selection.
  const queue = shuffled(points, random).values();
  await Promise.all(
    Array.from({length: CONCURRENCY}, async () => {
      for (const point of queue) {
        if (systemClock.monotonic() > untilMs) break;
        const {killedBefore, wasReached, violations} = await playVolumes(point, processes);
        const described = describeVolumePoint(point);
        report({
          ...{caseName, kind: kindOf(point), wasReached, violations},
          point: killedBefore === undefined ? described : `${described} (${killedBefore})`,
        });
      }
    }),
  );
}

/** Returns the description of a point from its report, which has the name of a step too. */
function withoutStep(reported: string): string {
  return reported.replace(/ \(.*$/, '');
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({item, order: random()}))
    .toSorted((a, b) => a.order - b.order)
    .map(({item}) => item);
}

function kindOf({fault, aftermath}: VolumePoint): PointReport['kind'] {
  if (fault === undefined) return 'kill';
  return aftermath === undefined ? 'driver' : 'driver and kill';
}
