import type {TopologyHint} from '../../../contract/node-manager.js';
import {countMembers, isSubset, listMembers} from '../../../resources/bit-set.js';
import type {CpuSet} from '../../../resources/cpu-set.js';
import {numaCombinations} from '../../../resources/numa-nodes.js';
import {cpusOf, unitsOf, type CpuUnits} from '../assignment/cpu-units.js';

/** CPUs to give hints for. */
export interface HintRequest {
  readonly available: CpuSet;
  /** CPUs that the pod has and must use. */
  readonly reusable: CpuSet;
  readonly count: number;
  /** True if all NUMA nodes of a socket are as good as one. */
  readonly alignBySocket: boolean;
}

/**
 * Returns the sets of NUMA nodes that have enough CPUs. Those of the least number of nodes that would do on an idle machine are
 * preferred. (generateCPUTopologyHints)
 */
export function cpuHints(units: CpuUnits, request: HintRequest): readonly TopologyHint[] {
  const {available, reusable, count, alignBySocket} = request;
  const nodes = [...units.numaNode.keys()].sort((a, b) => a - b);
  const masks = numaCombinations(nodes).map((numaNodes) => ({
    numaNodes,
    size: countMembers(numaNodes),
    cpus: cpusOf(units, 'numaNode', listMembers(numaNodes)),
  }));
  const least = Math.min(
    nodes.length,
    ...masks.filter(({cpus}) => countMembers(cpus) >= count).map(({size}) => size),
  );
  return masks
    .filter(
      ({cpus}) =>
        isSubset(reusable, cpus) && countMembers(reusable) + countMembers(available & cpus) >= count,
    )
    .map(({numaNodes, size, cpus}) => ({
      numaNodes,
      preferred: size === least || (alignBySocket && isOnFewestSockets(units, cpus, least)),
    }));
}

function isOnFewestSockets(units: CpuUnits, cpus: CpuSet, leastNumaNodes: number): boolean {
  const {numaNodeCount, socketCount} = units.topology;
  const perSocket = Math.trunc(numaNodeCount / socketCount);
  return perSocket > 0 && unitsOf(units, 'socket', cpus).length === Math.ceil(leastNumaNodes / perSocket);
}
