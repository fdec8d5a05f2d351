import {systemClock} from '../../../src/base/clock.js';
import type {KubeletProcesses} from '../killable-driver.js';
import type {CaseOrder, PointReport} from '../point-report.js';
import {playVolumes} from './play-volumes.js';
import {selectPoints} from './select-points.js';
import {
  describeVolumePoint,
  parseVolumePoint,
  planVolumePoints,
  type Aftermath,
  type VolumePoint,
} from './volume-point.js';

/** What {@link playVolumePoints} works with. */
export interface VolumePointsOptions {
  readonly aftermath: Aftermath;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly report: (point: PointReport) => void;
  readonly processes: KubeletProcesses;
}

/** More at a time only lengthen each play, and so the periodic work of its kubelets. */
const CONCURRENCY = 4;

/** Plays the points of pods with CSI volumes that have an aftermath, and reports each. */
export async function playVolumePoints(
  order: CaseOrder,
  {aftermath, random, report, processes}: VolumePointsOptions,
): Promise<void> {
  const {caseName, minutes, point: only, times} = order;
  const untilMs = systemClock.monotonic() + minutes * 60_000;
  const base = await playVolumes({}, processes);
  report({caseName, kind: 'none', point: 'no fault', wasReached: true, violations: base.violations});
  const run = {steps: base.steps?.length ?? 0, methods: base.methods};
  const planned = planVolumePoints(aftermath, run, (n) => Math.floor(random() * n));
  const points =
    only === undefined
      ? selectPoints(planned, order, random)
      : Array.from({length: times}, () => parseVolumePoint(only));
  const queue = points.values();
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

function kindOf({fault, killAgainBeforeStep, aftermath}: VolumePoint): PointReport['kind'] {
  if (killAgainBeforeStep !== undefined) return 'kill twice';
  if (fault === undefined) return 'kill';
  return aftermath === undefined ? 'driver' : 'driver and kill';
}
