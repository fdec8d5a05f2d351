import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {DeviceClaim} from '../../../../api/types/v1-resource-claims.js';
import {SystemError} from '../../../../base/errors.js';
import {matchesNodeSelector} from '../../../resources/node-selector.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {ManagedPodStatus, PreparationFailure} from '../../../contract/node-manager.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {DeviceObjects} from '../../../contract/resources/device-objects.js';
import {findExtendedClass} from '../core/extended-class.js';
import {claimsOfContainer, mayNeedClaims} from '../core/pod-claims.js';
import type {AllocatedClaim} from './allocated-claim.js';
import {ClaimStore} from './claim-store.js';
import {KnownClaims} from './known-claims.js';
import {claimStatusesOf, LocalClaims, UnallocatedClaimError, withClaimStatuses} from './local-claims.js';
import {PlannedClaims} from './planned-claim-storage.js';
import {readPreparedClaims, type PreparedClaim} from './prepared-devices.js';

/** What LocalDra works with. */
export interface LocalDraOptions {
  readonly node: Pick<NodeFacts, 'rootDir' | 'nodeName' | 'labels'>;
  readonly manager: AllocatedClaim['manager'];
  readonly objects: () => DeviceObjects;
  /** True in a plan, which stores nothing. */
  readonly isPlan?: boolean;
  /** Reports whether a device plugin of the node offers an extended resource; none does by default. */
  readonly isOffered?: (resource: string) => boolean;
  /** Reads which claims are prepared; by default from what the last kubelet of the root directory has stored. */
  readonly prepared?: () => Promise<readonly PreparedClaim[]>;
}

/** Claims of a node without a cluster, and what this process knows of them. */
export class LocalDra {
  readonly claims: LocalClaims;
  readonly #store: ClaimStore;
  readonly #objects: () => DeviceObjects;
  readonly #known = new KnownClaims();
  /** Why not all claims of an earlier process are known. */
  #problem: SystemError | undefined;
  /** Why pods wait for devices, by UID. */
  readonly #waiting = new Map<string, string>();

  constructor({node, manager, objects, isPlan, isOffered, prepared}: LocalDraOptions) {
    const store = new ClaimStore(node.rootDir);
    const planned = isPlan === true ? new PlannedClaims(async () => await store.list()) : undefined;
    const read = prepared ?? (async () => await readPreparedClaims(node.rootDir));
    this.#store = store;
    this.#objects = objects;
    this.claims = new LocalClaims({
      objects,
      manager: planned === undefined ? manager : undefined,
      storage: planned ?? store,
      node: {name: node.nodeName, matches: (selector) => matchesNodeSelector(selector, node)},
      isOffered: isOffered ?? (() => false),
      prepared: async () => (await read()).filter(({uid}) => planned?.released.has(uid) !== true),
    });
  }

  /**
   * Reads the claims that an earlier process has allocated. Resolves with the error of a file that cannot be read: pods without claims
   * do not need it. Rejects with SystemError if the directory cannot be read.
   */
  async load(): Promise<SystemError | undefined> {
    const {claims, problem} = await this.#store.readable();
    for (const one of claims) this.#known.put(one);
    this.#problem = problem;
    return problem;
  }

  /** Requires that the claims of a pod are known, so that no container starts without its devices. Rejects with SystemError. */
  async requireKnown(pod: Pod): Promise<void> {
    const isUnknown = (): boolean =>
      this.#problem !== undefined && mayNeedClaims(pod) && this.ofPod(podRef(pod).uid).length === 0;
    // The file may have been restored or moved away.
    const problem = isUnknown() ? await this.load() : undefined;
    if (problem !== undefined && isUnknown()) throw problem;
  }

  /**
   * Allocates the claims of a pod, and resolves with the pod and their statuses, or with the event of a pod that waits for devices.
   * Rejects with SystemError if they cannot be stored, and with the signal's reason.
   */
  async allocate(pod: Pod, signal: AbortSignal): Promise<{readonly pod: Pod} | PreparationFailure> {
    const {uid} = podRef(pod);
    try {
      const claims = await this.claims.allocate(pod, signal);
      this.#waiting.delete(uid);
      this.#known.reserve(uid, claims);
      return {pod: withClaimStatuses(pod, claims)};
    } catch (error) {
      if (!(error instanceof UnallocatedClaimError)) throw error;
      this.#waiting.set(uid, error.message);
      return {reason: 'FailedScheduling', message: error.message};
    }
  }

  /** Gives up the claims of a pod, and resolves with the UIDs of the pods that wait for devices. Rejects with SystemError. */
  async release(podUid: string, signal?: AbortSignal): Promise<readonly string[]> {
    await this.claims.release(podUid, signal);
    this.forget(podUid);
    return [...this.#waiting.keys()];
  }

  /** Forgets a pod that has no claims any more. */
  forget(podUid: string): void {
    this.#waiting.delete(podUid);
    this.#known.release(podUid);
  }

  /** Returns a claim as an API server would. Throws SystemError if it is not allocated. */
  claim(namespace: string, name: string): DeviceClaim {
    const found = this.#known.find(namespace, name);
    if (found === undefined) throw new SystemError(`resourceclaim ${JSON.stringify(name)} is not allocated`);
    return found.claim;
  }

  /** Returns why a pod waits for devices; undefined if it does not. */
  waitsFor(podUid: string): string | undefined {
    return this.#waiting.get(podUid);
  }

  /** Returns the claims that are known to be reserved for a pod. */
  ofPod(podUid: string): readonly AllocatedClaim[] {
    return this.#known.ofPod(podUid);
  }

  /** Returns the UIDs of the pods that claims of a kubelet are reserved for. */
  podUids(): ReadonlySet<string> {
    const own = this.#known.all().filter(({manager}) => manager === 'kubelet');
    return new Set(own.flatMap(({claim}) => claim.status.reservedFor.map(({uid}) => uid)));
  }

  /** Returns a pod with the statuses of its claims. */
  podOf(pod: Pod): Pod {
    return withClaimStatuses(pod, this.ofPod(podRef(pod).uid));
  }

  statusOf(pod: Pod): ManagedPodStatus | undefined {
    const {uid} = podRef(pod);
    const fields = claimStatusesOf(pod, this.ofPod(uid));
    const unschedulable = this.#waiting.get(uid);
    return Object.keys(fields).length === 0 && unschedulable === undefined
      ? undefined
      : {fields, unschedulable};
  }

  /** Reports whether a DeviceClass provides an extended resource. */
  offers(resource: string): boolean {
    return findExtendedClass(this.#objects().classes, resource) !== undefined;
  }

  /** Describes the devices that a container gets: `device gpu-0 of gpu.example.com (claim gpu)`; undefined for none. */
  explain(pod: Pod, container: Container): string | undefined {
    const claims = this.ofPod(podRef(pod).uid);
    // Its claims may not be created yet.
    if (claims.length === 0) return undefined;
    const devices = claimsOfContainer(withClaimStatuses(pod, claims), container).flatMap(
      ({name, requests}) => {
        const found = claims.find(({claim}) => claim.metadata.name === name);
        return (found?.claim.status.allocation.devices.results ?? [])
          .filter(({request}) =>
            requests.some((one) => one === '' || one === request || request.startsWith(`${one}/`)),
          )
          .map(
            ({driver, pool, device, request}) =>
              `device ${device} of ${driver}, pool ${pool} (claim ${name}, request ${request})`,
          );
      },
    );
    return devices.length === 0 ? undefined : devices.join(', ');
  }
}
