import {randomUUID} from 'node:crypto';
import type {DeviceClass, DeviceSelector} from '../../../../api/types/v1-device-resources.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../../api/types/v1-status.js';
import {SystemError} from '../../../../base/errors.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {DeviceObjects} from '../../../contract/resources/device-objects.js';
import {allocateDevices} from '../allocation/allocate-devices.js';
import type {AllocatedDevice, Allocation, AllocationNode} from '../allocation/allocation-types.js';
import {runInSteps} from '../allocation/run-in-steps.js';
import {mayNeedClaims} from '../core/pod-claims.js';
import {isReservedFor, withoutReservation, type AllocatedClaim} from './allocated-claim.js';
import type {ClaimStorage} from './claim-store.js';
import {neededClaims, type NeededClaim} from './needed-claims.js';
import type {PreparedClaim} from './prepared-devices.js';

/** Most pods that a claim is reserved for (ResourceClaimReservedForMaxSize). */
const MOST_CONSUMERS = 256;

/** Time within which devices must be found. Usually that takes less than 10 ms. */
const LIMITS = {turnMs: 10, stepMs: 2000, allMs: 5000};

/** Name of the lock under which devices are given and taken back. */
const ALLOCATION = 'allocation';

/** What LocalClaims works with. */
export interface LocalClaimsOptions {
  readonly storage: ClaimStorage;
  /** Process that the claims are for; undefined in a plan, which may be for either. */
  readonly manager: AllocatedClaim['manager'] | undefined;
  readonly node: AllocationNode;
  readonly objects: () => DeviceObjects;
  /** Reports whether a device plugin of the node offers an extended resource. */
  readonly isOffered: (resource: string) => boolean;
  /** Reads which claims are prepared. Those that are not stored here were left by a kubelet of a cluster. */
  readonly prepared: () => Promise<readonly PreparedClaim[]>;
}

/** Reports that a pod waits for devices, with the scheduler's words and why. */
export class UnallocatedClaimError extends SystemError {}

/** Statuses of the claims of a pod. */
export type ClaimStatuses = Pick<PodStatus, 'resourceClaimStatuses' | 'extendedResourceClaimStatus'>;

/**
 * Claims of a node without a cluster: creates those of templates, allocates devices for them, and reserves them for pods, as the
 * resourceclaim controller and the scheduler do. Whatever is allocated is stored first, under a lock of the root directory, so that
 * no device is given to two claims, also if a process is killed.
 */
export class LocalClaims {
  readonly #options: LocalClaimsOptions;

  constructor(options: LocalClaimsOptions) {
    this.#options = options;
  }

  /**
   * Allocates the claims of a pod that are not allocated yet, and reserves all for it. Rejects with UnallocatedClaimError while there
   * are no devices, with another SystemError if a claim cannot be stored, and with the signal's reason.
   */
  async allocate(pod: Pod, signal: AbortSignal): Promise<readonly AllocatedClaim[]> {
    if (!mayNeedClaims(pod)) return [];
    const {storage} = this.#options;
    // Extended resources may be those of device plugins, which need no claim.
    if ((pod.spec.resourceClaims ?? []).length === 0 && this.#needed(pod, await storage.list()).length === 0)
      return [];
    const work = async (): Promise<readonly AllocatedClaim[]> =>
      await this.#allocateLocked(pod, await storage.list(), signal);
    return await storage.locked(ALLOCATION, work, signal);
  }

  async #allocateLocked(
    pod: Pod,
    known: readonly AllocatedClaim[],
    signal: AbortSignal,
  ): Promise<readonly AllocatedClaim[]> {
    const found = this.#needed(pod, known).map((claim) => ({
      ...{claim, known: known.find((one) => isSame(one, claim))},
    }));
    for (const one of found) if (one.known !== undefined) this.#requireUsable(one.known, pod);
    const missing = found.filter((one) => one.known === undefined).map(({claim}) => claim);
    const created = await this.#create(missing, known, signal);
    const all = found.map(
      (one) => one.known ?? created.find(({claim}) => claim.metadata.name === one.claim.metadata.name),
    );
    const given = all.flatMap((one) => (one === undefined ? [] : [reservedFor(one, pod)]));
    for (const claim of given) if (!known.includes(claim)) await this.#options.storage.put(claim);
    return given;
  }

  /** Returns the claims that a pod needs. Throws UnallocatedClaimError if one cannot be had. */
  #needed(pod: Pod, known: readonly AllocatedClaim[]): readonly NeededClaim[] {
    const {objects, isOffered} = this.#options;
    const reserved = known.filter((one) => isReservedFor(one, podRef(pod).uid));
    try {
      return neededClaims(pod, {objects: objects(), isOffered, reserved});
    } catch (error) {
      return rethrowAsWaiting(error);
    }
  }

  /** Returns claims with devices for them. */
  async #create(
    needed: readonly NeededClaim[],
    known: readonly AllocatedClaim[],
    signal: AbortSignal,
  ): Promise<readonly AllocatedClaim[]> {
    if (needed.length === 0) return [];
    const allocations = await this.#findDevices(needed, known, signal);
    return needed.map(({metadata, spec, generatedFor}, index): AllocatedClaim => {
      const allocation = allocations[index];
      if (allocation === undefined) throw new Error('a claim has no allocation');
      // As with an API server, a UID in the manifest has no effect. It is the name of a file.
      const stored = {...metadata, uid: randomUUID()};
      return {
        ...{version: 1, manager: this.#options.manager ?? 'sync'},
        claim: {metadata: stored, spec, status: {allocation, reservedFor: []}},
        ...(generatedFor !== undefined && {generatedFor}),
      };
    });
  }

  /** Returns an allocation for each claim. Rejects with UnallocatedClaimError. */
  async #findDevices(
    needed: readonly NeededClaim[],
    known: readonly AllocatedClaim[],
    signal: AbortSignal,
  ): Promise<readonly Allocation[]> {
    const {objects, node} = this.#options;
    const {classes, slices} = objects();
    const claims = needed.map(({metadata: {namespace, name}, spec}) => ({namespace, name, spec}));
    const devices = await this.#takenDevices(known);
    const input = {claims, classes, slices, node, allocated: {devices}, newShareId: () => randomUUID()};
    // Most of this program never needs CEL.
    const selectors = haveSelectors(needed, classes)
      ? (await import('../selectors/device-selectors.js')).createDeviceSelectors()
      : NO_SELECTORS;
    const search = allocateDevices({...input, matches: selectors.matches});
    const outcome = await runInSteps(search, LIMITS, signal).catch(rethrowAsWaiting);
    if (outcome.kind === 'allocated') return outcome.allocations;
    throw new UnallocatedClaimError(`cannot allocate all claims: ${outcome.reason}`, {
      hint: 'delete pods that use the devices, or add a ResourceSlice with more of them to the manifests',
    });
  }

  /** Returns the devices of stored claims as they were allocated, and those that are prepared for other claims. */
  async #takenDevices(known: readonly AllocatedClaim[]): Promise<readonly AllocatedDevice[]> {
    const stored = new Set(known.map(({claim}) => claim.metadata.uid));
    const others = (await this.#options.prepared()).filter(({uid}) => !stored.has(uid));
    return [
      ...known.flatMap(({claim}) => claim.status.allocation.devices.results),
      ...others.flatMap(({devices}) => devices),
    ];
  }

  #requireUsable({manager, claim}: AllocatedClaim, pod: Pod): void {
    const {uid} = podRef(pod);
    const {reservedFor: consumers} = claim.status;
    const {namespace, name} = claim.metadata;
    if (consumers.some((consumer) => consumer.uid === uid)) return;
    if (manager !== (this.#options.manager ?? manager) && consumers.length > 0)
      throw new UnallocatedClaimError(
        `resourceclaim in use: ${namespace}/${name} belongs to pods of ${manager === 'kubelet' ? 'kcri kubelet' : 'kcri sync'}`,
        {hint: 'delete those pods, or use another claim'},
      );
    if (consumers.length >= MOST_CONSUMERS)
      throw new UnallocatedClaimError(
        `resourceclaim in use: ${namespace}/${name} is reserved for ${MOST_CONSUMERS} pods`,
      );
  }

  /** Gives up the claims of a pod; devices that no pod uses any more are free again. Rejects with SystemError. */
  async release(podUid: string, signal?: AbortSignal): Promise<void> {
    const {storage} = this.#options;
    const work = async (): Promise<void> => {
      for (const one of await this.ofPod(podUid)) {
        const left = withoutReservation(one, podUid);
        await (left === undefined ? storage.delete(one) : storage.put(left));
      }
    };
    await storage.locked(ALLOCATION, work, signal);
  }

  /** Stores what was prepared of a claim; nothing if the claim is gone. */
  async setPrepared(uid: string, prepared: string): Promise<void> {
    const {storage} = this.#options;
    await storage.locked(ALLOCATION, async () => {
      const found = await storage.get(uid);
      if (found !== undefined) await storage.put({...found, prepared});
    });
  }

  /** Returns all allocated claims. */
  async all(): Promise<readonly AllocatedClaim[]> {
    return await this.#options.storage.list();
  }

  /** Returns the claims that are reserved for a pod. */
  async ofPod(podUid: string): Promise<readonly AllocatedClaim[]> {
    return (await this.all()).filter((one) => isReservedFor(one, podUid));
  }

  /** Runs work while no other command calls drivers for the claim. */
  async withClaimLock<T>({claim}: AllocatedClaim, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return await this.#options.storage.locked(claim.metadata.uid, work, signal);
  }
}

/** Returns the statuses that a pod has of its claims: those of generated ones. */
export function claimStatusesOf(pod: Pod, claims: readonly AllocatedClaim[]): ClaimStatuses {
  const {uid} = podRef(pod);
  const own = claims.filter(({generatedFor}) => generatedFor?.podUid === uid);
  const statuses = own.flatMap(({generatedFor, claim}) => {
    const name = generatedFor?.entry;
    return name === undefined ? [] : [{name, resourceClaimName: claim.metadata.name}];
  });
  const extended = own.find(({generatedFor}) => generatedFor?.mappings !== undefined);
  return {
    ...(statuses.length > 0 && {resourceClaimStatuses: statuses}),
    ...(extended !== undefined && {
      extendedResourceClaimStatus: {
        requestMappings: extended.generatedFor?.mappings ?? [],
        resourceClaimName: extended.claim.metadata.name,
      },
    }),
  };
}

/** Returns a pod with the statuses of its claims; the same pod if there are none. */
export function withClaimStatuses(pod: Pod, claims: readonly AllocatedClaim[]): Pod {
  if (claims.length === 0) return pod;
  return {...pod, status: {...pod.status, ...claimStatusesOf(pod, claims)}};
}

/** Reports whether a stored claim is the one that a pod needs. One of the same name of another pod is not. */
function isSame({claim, generatedFor}: AllocatedClaim, needed: NeededClaim): boolean {
  const {namespace, name} = needed.metadata;
  return (
    claim.metadata.namespace === namespace &&
    claim.metadata.name === name &&
    generatedFor?.podUid === needed.generatedFor?.podUid
  );
}

function reservedFor(one: AllocatedClaim, pod: Pod): AllocatedClaim {
  const {uid, name} = podRef(pod);
  const {claim} = one;
  const {reservedFor: consumers} = claim.status;
  if (consumers.some((consumer) => consumer.uid === uid)) return one;
  const added = [...consumers, {resource: 'pods', name, uid}];
  return {...one, claim: {...claim, status: {...claim.status, reservedFor: added}}};
}

const NO_SELECTORS = {matches: () => true};

function haveSelectors(needed: readonly NeededClaim[], classes: readonly DeviceClass[]): boolean {
  const has = ({selectors = []}: {readonly selectors?: readonly DeviceSelector[]}): boolean =>
    selectors.length > 0;
  return needed.some(({spec}) =>
    (spec.devices.requests ?? []).some(({exactly, firstAvailable = []}) =>
      [...(exactly === undefined ? [] : [exactly]), ...firstAvailable].some(
        (one) =>
          has(one) ||
          classes.some(({metadata, spec: of}) => metadata.name === one.deviceClassName && has(of)),
      ),
    ),
  );
}

/** Throws an error; a SystemError as one that a pod waits with. */
function rethrowAsWaiting(cause: unknown): never {
  if (!(cause instanceof SystemError)) throw cause;
  throw new UnallocatedClaimError(cause.message, {cause, hint: cause.hint});
}
