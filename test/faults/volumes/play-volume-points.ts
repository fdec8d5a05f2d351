import type {ChildProcess} from 'node:child_process';
import type {CaseOrder, PointReport} from '../point-report.js';
import {playVolumes} from './play-volumes.js';
import {describeVolumePoint, planVolumePoints, type Aftermath, type VolumePoint} from './volume-point.js';

/** What {@link playVolumePoints} works with. */
export interface VolumePointsOptions {
  readonly aftermath: Aftermath;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly report: (point: PointReport) => void;
  readonly startProcess: () => ChildProcess;
}

const CONCURRENCY = 8;

/** Plays the points of pods with CSI volumes that have an aftermath, and reports each. */
export async function playVolumePoints(
  {caseName, every, only = ''}: CaseOrder,
  {aftermath, random, report, startProcess}: VolumePointsOptions,
): Promise<void> {
  const base = await playVolumes({}, startProcess);
  report({caseName, kind: 'none', point: 'no fault', wasReached: true, violations: base.violations});
  const run = {steps: base.steps?.length ?? 0, methods: base.methods};
  const points = planVolumePoints(aftermath, run, (n) => Math.floor(random() * n))
    .filter(() => random() * every < 1)
    .filter((point) => describeVolumePoint(point).includes(only));
  const queue = points.values();
  await Promise.all(
    Array.from({length: CONCURRENCY}, async () => {
      for (const point of queue) {
        const {killedBefore, wasReached, violations} = await playVolumes(point, startProcess);
        const described = describeVolumePoint(point);
        report({
          ...{caseName, kind: kindOf(point), wasReached, violations},
          point: killedBefore === undefined ? described : `${described} (${killedBefore})`,
        });
      }
    }),
  );
}

function kindOf({fault, aftermath}: VolumePoint): PointReport['kind'] {
  if (fault === undefined) return 'kill';
  return aftermath === undefined ? 'driver' : 'driver and kill';
}
