import {containersOf} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {TopologyHint, TopologyHints} from '../../../contract/node-manager.js';
import {countMembers, unite} from '../../../resources/bit-set.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {CpuSet} from '../../../resources/cpu-set.js';
import {hasPodLevelResources} from '../../../resources/resource-amounts.js';
import {containerCpus} from '../state/cpu-state.js';
import {isSkipped, reusableCpus, type Allocations} from './allocate-cpus.js';
import {findEmptyPool} from './allocate-pod-cpus.js';
import {cpuHints} from './cpu-hints.js';
import {countForContainer, countForPod} from './exclusive-counts.js';
import {availableCpus, type StaticPolicy} from './static-policy.js';

/** Hints of a pod that gets no exclusive CPUs: none. */
const NO_OPINION: TopologyHints = new Map();

/** Hints for what cannot be had. */
const IMPOSSIBLE: TopologyHints = new Map([['cpu', []]]);

/** Returns the NUMA nodes that a container's exclusive CPUs can be taken from (staticPolicy.GetTopologyHints). */
export function containerHints(
  policy: StaticPolicy,
  allocations: Allocations,
  {pod, container}: {readonly pod: Pod; readonly container: Container},
): TopologyHints {
  const count = countForContainer(policy, pod, container);
  if (count === 0 || isSkipped(policy, pod)) return NO_OPINION;
  const {uid} = podRef(pod);
  const known = containerCpus(allocations.state, uid, container.name);
  if (known !== undefined) return hintsOfAllocated(policy, known, count);
  return hints(policy, {
    available: availableCpus(policy, allocations.state),
    reusable: reusableCpus(allocations, uid),
    count,
  });
}

function hintsOfAllocated(policy: StaticPolicy, cpus: CpuSet, count: number): TopologyHints {
  return countMembers(cpus) === count ? hints(policy, {available: cpus, reusable: 0n, count}) : IMPOSSIBLE;
}

/** Returns the NUMA nodes that the exclusive CPUs of all containers can be taken from (staticPolicy.GetPodTopologyHints). */
export function podHints(policy: StaticPolicy, allocations: Allocations, pod: Pod): TopologyHints {
  const count = countForPod(policy, pod);
  if (count === 0 || isSkipped(policy, pod)) return NO_OPINION;
  if (policy.managesPodLevel && hasPodLevelResources(pod) && findEmptyPool(policy, pod) !== undefined)
    return IMPOSSIBLE;
  const {uid} = podRef(pod);
  const known = containersOf(pod).flatMap((container) => {
    const cpus = containerCpus(allocations.state, uid, container.name);
    return cpus === undefined ? [] : [{cpus, count: countForContainer(policy, pod, container)}];
  });
  if (known.some((each) => countMembers(each.cpus) !== each.count)) return IMPOSSIBLE;
  const assigned = unite(known.map(({cpus}) => cpus));
  if (countMembers(assigned) === count) return hints(policy, {available: assigned, reusable: 0n, count});
  return hints(policy, {
    available: availableCpus(policy, allocations.state),
    reusable: reusableCpus(allocations, uid) | assigned,
    count,
  });
}

interface CpuRequest {
  readonly available: CpuSet;
  readonly reusable: CpuSet;
  readonly count: number;
}

function hints({units, options}: StaticPolicy, request: CpuRequest): TopologyHints {
  const found: readonly TopologyHint[] = cpuHints(units, {
    ...request,
    alignBySocket: options.has('align-by-socket'),
  });
  return new Map([['cpu', found]]);
}
