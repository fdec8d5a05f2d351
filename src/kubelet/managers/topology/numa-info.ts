import {SystemError} from '../../../base/errors.js';
import type {NumaNode} from '../../contract/resources/machine.js';
import {bitSet, listMembers} from '../../resources/bit-set.js';
import type {NumaInfo} from './merge-hints.js';

/** What the topology manager knows of a NUMA node. */
export type NumaDistances = Pick<NumaNode, 'id' | 'distances'>;

/** Returns the NUMA nodes of the machine (NewNUMAInfo). Throws SystemError if it does not tell the distances that matter. */
export function numaInfo(nodes: readonly NumaDistances[], prefersClosest: boolean): NumaInfo {
  const all = bitSet(nodes.map(({id}) => id));
  if (!prefersClosest) return {all, distance: undefined};
  if (nodes.some(({distances}) => distances.length === 0))
    throw new SystemError('cannot discover NUMA topology: error getting NUMA distances from cadvisor', {
      hint: 'remove the option prefer-closest-numa-nodes from topologyManagerPolicyOptions',
    });
  const distances = new Map(nodes.map(({id, distances: own}) => [id, own]));
  return {all, distance: (mask) => averageDistance(distances, listMembers(mask))};
}

/** Returns the average over all ordered pairs of nodes, each with itself too (CalculateAverageFor). */
function averageDistance(
  distances: ReadonlyMap<number, readonly number[]>,
  nodes: readonly number[],
): number {
  const sum = nodes.reduce(
    (total, from) => nodes.reduce((inner, to) => inner + (distances.get(from)?.[to] ?? 0), total),
    0,
  );
  return sum / nodes.length ** 2;
}
