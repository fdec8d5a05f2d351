import {containersOf} from '../../../api/pod-containers.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import {SystemError} from '../../../base/errors.js';
import type {TopologyHint} from '../../contract/node-manager.js';
import {AdmissionError} from '../../contract/resources/admission-error.js';
import {listMembers} from '../../resources/bit-set.js';
import {
  bestExtension,
  bestHint,
  findHints,
  hasEnough,
  violatesGroups,
  type ReusableMemory,
} from './memory-hints.js';
import {
  containerRequests,
  findEmptySharedPool,
  isSidecar,
  requestsOfPod,
  type MemoryRequests,
} from './memory-requests.js';
import {
  blocksOf,
  reserve,
  withBlocks,
  type MachineMemory,
  type MemoryBlock,
  type MemoryState,
} from './memory-state.js';

/** Returns the UID of a pod. */
export function uidOf({metadata}: Pod): string {
  return metadata.uid ?? '';
}

/**
 * Gives a container what it requests on the NUMA nodes of a merged hint. What init containers of the pod can leave is used
 * first, and counts no longer as theirs. Throws SystemError with the kubelet's text if that is impossible (staticPolicy
 * Allocate).
 */
export function allocateContainer(
  state: MemoryState,
  {pod, container}: {readonly pod: Pod; readonly container: Container},
  affinity: TopologyHint,
  reusable: ReusableMemory,
): MemoryState {
  const requests = containerRequests(pod, container);
  const mask = chooseNodes(state.machine, requests, affinity, reusable);
  const blocks = toBlocks(requests, mask);
  const machine = blocks.reduce(
    (left, block) => reserve(left, {...block, size: Math.max(0, block.size - reusable(mask, block.type))}),
    state.machine,
  );
  const given = withBlocks({...state, machine}, uidOf(pod), container.name, blocks);
  return blocks.reduce((changed, block) => takeFromInit(changed, pod, container, block), given);
}

function toBlocks(requests: MemoryRequests, mask: bigint): readonly MemoryBlock[] {
  const numaAffinity = listMembers(mask);
  return [...requests].map(([type, size]) => ({numaAffinity, type, size}));
}

/** Returns the nodes for a request: those of the hint, or the best ones that include them. */
function chooseNodes(
  machine: MachineMemory,
  requests: MemoryRequests,
  affinity: TopologyHint,
  reusable: ReusableMemory,
): bigint {
  let {numaNodes, preferred} = affinity;
  if (numaNodes === undefined) {
    const own = bestHint(findHints(machine, requests, reusable));
    if (own === undefined || requests.size === 0)
      throw failure('failed to get the default NUMA affinity, no NUMA nodes with enough memory is available');
    if (preferred && !own.preferred) throw failure('failed to find the default preferred hint');
    ({numaNodes, preferred} = own);
  }
  if (!hasEnough(machine, numaNodes, requests)) {
    const extended = bestExtension(findHints(machine, requests, reusable), numaNodes);
    if (extended === undefined)
      throw failure('failed to find NUMA nodes to extend the current topology hint');
    if (preferred && !extended.preferred) throw failure('failed to find the extended preferred hint');
    ({numaNodes} = extended);
  }
  if (violatesGroups(machine, numaNodes)) throw failure('preferred hint violates NUMA node allocation');
  return numaNodes;
}

function failure(problem: string): SystemError {
  return new SystemError(`[memorymanager] ${problem}`);
}

/** Takes the size of a block from those of earlier init containers on the same nodes, so that the blocks' sum is what is held. */
function takeFromInit(state: MemoryState, pod: Pod, {name}: Container, block: MemoryBlock): MemoryState {
  let changed = state;
  let rest = block.size;
  for (const init of pod.spec.initContainers ?? []) {
    if (init.name === name) break;
    const blocks = isSidecar(init) ? undefined : blocksOf(changed, uidOf(pod), init.name);
    if (blocks === undefined || blocks.length === 0 || rest === 0) continue;
    const smaller = blocks.map((own) => {
      if (own.type !== block.type || String(own.numaAffinity) !== String(block.numaAffinity)) return own;
      const taken = Math.min(own.size, rest);
      rest -= taken;
      return {...own, size: own.size - taken};
    });
    changed = withBlocks(changed, uidOf(pod), init.name, smaller);
  }
  return changed;
}

/**
 * Gives a pod with resources of its own its memory as a whole, and divides it: containers without memory of their own share
 * what the others leave. Throws AdmissionError if they leave nothing, and SystemError (staticPolicy AllocatePod).
 */
export function allocatePod(state: MemoryState, pod: Pod, affinity: TopologyHint): MemoryState {
  const problem = findEmptySharedPool(pod);
  if (problem !== undefined)
    throw new AdmissionError('EmptyPodSharedPoolError', problem, 'raise the memory of the pod');
  const total = requestsOfPod(pod);
  const mask = chooseNodes(state.machine, total, affinity, () => 0);
  const uid = uidOf(pod);
  const memoryBlocks = toBlocks(total, mask);
  const given: MemoryState = {
    ...state,
    machine: memoryBlocks.reduce(reserve, state.machine),
    pods: new Map(state.pods).set(uid, {memoryBlocks}),
  };
  return [...divide(pod, total)].reduce<MemoryState>(
    (changed, [name, requests]) =>
      withBlocks(
        changed,
        uid,
        name,
        toBlocks(requests, mask).filter(({size}) => size > 0),
      ),
    given,
  );
}

/** Returns what each container of a pod gets: what it requests, or all that is not taken while it runs. */
function divide(pod: Pod, total: MemoryRequests): ReadonlyMap<string, MemoryRequests> {
  const parts = new Map<string, MemoryRequests>();
  let pool = total;
  for (const container of pod.spec.initContainers ?? []) {
    const requests = containerRequests(pod, container);
    if (requests.size > 0) parts.set(container.name, requests);
    else if (!isSidecar(container)) parts.set(container.name, pool);
    if (isSidecar(container)) pool = subtract(pool, requests);
  }
  for (const container of pod.spec.containers) {
    const requests = containerRequests(pod, container);
    if (requests.size > 0) parts.set(container.name, requests);
    pool = subtract(pool, requests);
  }
  return new Map(containersOf(pod).map(({name}) => [name, parts.get(name) ?? pool]));
}

function subtract(pool: MemoryRequests, taken: MemoryRequests): MemoryRequests {
  return new Map([...pool].map(([type, size]) => [type, size - (taken.get(type) ?? 0)]));
}
