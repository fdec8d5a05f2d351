import type {CaseOrder} from '../point-report.js';
import {describeVolumePoint, type VolumePoint} from './volume-point.js';

/**
 * Returns the points of an order that were not played before, in a random order, so that those that are played until the time
 * is up are a random selection. `random` returns a number in [0, 1).
 */
export function selectPoints(
  points: readonly VolumePoint[],
  {every, only = '', played = []}: Pick<CaseOrder, 'every' | 'only' | 'played'>,
  random: () => number,
): readonly VolumePoint[] {
  const earlier = new Set(played.map(withoutStep));
  return points
    .filter(() => random() * every < 1)
    .map((point) => ({point, described: describeVolumePoint(point), order: random()}))
    .filter(({described}) => described.includes(only) && !earlier.has(described))
    .toSorted((a, b) => a.order - b.order)
    .map(({point}) => point);
}

/** Returns the description of a point from its report, which has the name of a step too. */
function withoutStep(reported: string): string {
  return reported.replace(/ \(.*$/, '');
}
