import {containersOf} from '../../../api/pod-containers.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import {rethrowUnexpected} from '../../../base/errors.js';
import type {TopologyHint, TopologyHints} from '../../contract/node-manager.js';
import {bitSet} from '../../resources/bit-set.js';
import {allocateContainer, allocatePod, uidOf} from './allocate-memory.js';
import {findHints, hintsByType, hintsOfBlocks, type ReusableMemory} from './memory-hints.js';
import {
  containerRequests,
  findEmptySharedPool,
  getsOwnMemory,
  isSidecar,
  requestsOfPod,
  type MemoryRequests,
} from './memory-requests.js';
import {blocksOf, release, type MemoryBlock, type MemoryState} from './memory-state.js';

const NO_HINTS: TopologyHints = new Map();

/** Memory of init containers that later containers of the same pod can use, by NUMA nodes and type. */
interface Reusable {
  readonly pod: string;
  readonly bytes: Map<bigint, Map<string, number>>;
}

/** Gives the containers of Guaranteed pods memory of some NUMA nodes (the memory manager's policy Static). */
export class StaticMemory {
  readonly #managesPodLevel: boolean;
  #state: MemoryState;
  /** Of the last pod only, which is enough for one admission. */
  #reusable: Reusable = {pod: '', bytes: new Map()};

  constructor(state: MemoryState, managesPodLevel: boolean) {
    this.#state = state;
    this.#managesPodLevel = managesPodLevel;
  }

  get state(): MemoryState {
    return this.#state;
  }

  containerHints(pod: Pod, container: Container): TopologyHints {
    if (!getsOwnMemory(pod, this.#managesPodLevel)) return NO_HINTS;
    const requests = orNothing(() => containerRequests(pod, container));
    const blocks = blocksOf(this.#state, uidOf(pod), container.name);
    return blocks === undefined ? this.#find(pod, requests) : hintsOfBlocks(blocks, requests);
  }

  podHints(pod: Pod): TopologyHints {
    if (!getsOwnMemory(pod, this.#managesPodLevel)) return NO_HINTS;
    const requests = orNothing(() => requestsOfPod(pod));
    if (this.#isDivided(pod) && findEmptySharedPool(pod) !== undefined)
      return new Map([...requests.keys()].map((type) => [type, []]));
    const given = containersOf(pod)
      .map(({name}) => blocksOf(this.#state, uidOf(pod), name))
      .find((blocks) => blocks !== undefined);
    return given === undefined || requests.size === 0
      ? this.#find(pod, requests)
      : hintsOfBlocks(given, requests);
  }

  #isDivided(pod: Pod): boolean {
    return this.#managesPodLevel && pod.spec.resources !== undefined;
  }

  #find(pod: Pod, requests: MemoryRequests): TopologyHints {
    if (requests.size === 0) return NO_HINTS;
    return hintsByType(findHints(this.#state.machine, requests, this.#reusableOf(pod)), requests);
  }

  /** Allocates unless the container has its memory already. Throws SystemError. */
  allocate(pod: Pod, container: Container, affinity: TopologyHint): void {
    if (!getsOwnMemory(pod, this.#managesPodLevel)) return;
    if (blocksOf(this.#state, uidOf(pod), container.name) === undefined)
      this.#state = allocateContainer(this.#state, {pod, container}, affinity, this.#reusableOf(pod));
    this.#updateReusable(pod, container);
  }

  /** Allocates for the whole pod, unless it has its memory already. Throws AdmissionError and SystemError. */
  allocatePod(pod: Pod, affinity: TopologyHint): void {
    if (!getsOwnMemory(pod, this.#managesPodLevel) || this.#state.pods.has(uidOf(pod))) return;
    this.#state = allocatePod(this.#state, pod, affinity);
  }

  /**
   * Releases the memory of the init containers before a container that was created: each has ended, unless it is a sidecar
   * (manager AddContainer).
   */
  started({metadata, spec}: Pod, {name}: Container): void {
    const init = spec.initContainers ?? [];
    const index = init.findIndex((each) => each.name === name);
    for (const earlier of init.slice(0, index < 0 ? undefined : index))
      if (!isSidecar(earlier)) this.remove(metadata.uid ?? '', earlier.name);
  }

  /** Releases the memory of all containers but those of these pods. */
  removeStale(active: readonly Pod[]): void {
    const names = new Map(
      active.map((pod) => [uidOf(pod), new Set(containersOf(pod).map(({name}) => name))] as const),
    );
    for (const [uid, containers] of this.#state.containers)
      for (const name of containers.keys()) if (names.get(uid)?.has(name) !== true) this.remove(uid, name);
  }

  /** Releases the memory of a container, if it has any. */
  remove(uid: string, container: string): void {
    this.#state = release(this.#state, uid, container);
  }

  #reusableOf(pod: Pod): ReusableMemory {
    const {pod: owner, bytes} = this.#reusable;
    if (owner !== uidOf(pod)) return () => 0;
    return (numaNodes, type) => bytes.get(numaNodes)?.get(type) ?? 0;
  }

  /** Counts memory of an init container as reusable, and what another container has as used (updatePodReusableMemory). */
  #updateReusable(pod: Pod, container: Container): void {
    const uid = uidOf(pod);
    const blocks = blocksOf(this.#state, uid, container.name) ?? [];
    if (this.#reusable.pod !== uid) this.#reusable = {pod: uid, bytes: new Map()};
    const init = pod.spec.initContainers?.find(({name}) => name === container.name);
    const isReusable = init !== undefined && !isSidecar(init);
    for (const block of blocks) this.#change(block, isReusable ? Math.max : subtractAtMost);
  }

  #change({numaAffinity, type, size}: MemoryBlock, change: (before: number, size: number) => number): void {
    const {bytes} = this.#reusable;
    const mask = bitSet(numaAffinity);
    const types = bytes.get(mask) ?? new Map<string, number>();
    bytes.set(mask, types.set(type, change(types.get(type) ?? 0, size)));
  }
}

/** Returns no requests for those of a pod that the allocation will refuse. */
function orNothing(requests: () => MemoryRequests): MemoryRequests {
  try {
    return requests();
  } catch (error) {
    rethrowUnexpected(error);
    return new Map();
  }
}

function subtractAtMost(before: number, size: number): number {
  return Math.max(0, before - size);
}
