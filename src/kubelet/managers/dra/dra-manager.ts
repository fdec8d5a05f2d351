import type {Pod} from '../../../api/types/v1-pod.js';
import {coalesce} from '../../../base/async/coalesce.js';
import {KeyedLock} from '../../../base/async/keyed-lock.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import type {FileLogger} from '../../../base/logger.js';
import type {Claim, Device} from '../../../plugin-api/gen/dra/types.js';
import type {ResourceApi} from '../../contract/cluster/resource-api.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import {podRef} from '../../contract/pod-ref.js';
import {countClaimsInUse, restoredClaim, withDevices, ClaimCache} from './core/claim-info.js';
import type {ClaimDevice, ClaimInfo} from './core/claim-info.js';
import {formatDraCheckpoint, parseDraCheckpoint} from './core/dra-checkpoint.js';
import {checkAnswers} from './core/driver-answers.js';
import {checkPodClaim, claimsOfPod, type ClaimReference} from './core/pod-claims.js';
import type {DriverCalls} from './driver-connection.js';

/** What DraManager works with. */
export interface DraManagerOptions {
  /** Undefined without an API server: then no pod has claims. */
  readonly api: Pick<ResourceApi, 'claim'> | undefined;
  /** Returns the calls of a driver. Throws SystemError if it is not registered. */
  readonly driver: (name: string) => DriverCalls;
  /** Replaces the checkpoint durably. Rejects with SystemError. */
  readonly writeCheckpoint: (text: string) => Promise<void>;
  readonly metrics: Pick<KubeletMetrics, 'draOperationCompleted' | 'draClaimsInUse'>;
  readonly clock: Clock;
  readonly logger: FileLogger;
}

const VERBS = {PrepareResources: 'prepare', UnprepareResources: 'unprepare'} as const;

type Operation = keyof typeof VERBS;

/** Prepares the ResourceClaims of pods with their drivers, and releases them (dra Manager). */
export class DraManager {
  readonly claims = new ClaimCache();
  readonly #options: DraManagerOptions;
  /** Prevents that a claim is prepared for one pod while it is unprepared for another. */
  readonly #lock = new KeyedLock();
  #stored: string | undefined;
  readonly #save = coalesce(async () => {
    const text = formatDraCheckpoint(this.claims.all());
    if (text === this.#stored) return;
    await this.#options.writeCheckpoint(text);
    this.#stored = text;
  });

  constructor(options: DraManagerOptions) {
    this.#options = options;
    options.metrics.draClaimsInUse(countClaimsInUse([]));
  }

  /** Restores the claims of an earlier kubelet; undefined if it left none. Throws SystemError for a checkpoint that cannot be used. */
  restore(text: string | undefined): void {
    if (text === undefined) return;
    for (const claim of parseDraCheckpoint(text)) this.claims.put(restoredClaim(claim));
    this.#stored = text;
  }

  /**
   * Prepares the claims of a pod that are not prepared yet (PrepareResources). Rejects with SystemError if one cannot be had, and
   * with the signal's reason.
   */
  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const work = async (): Promise<void> => {
      const references = claimsOfPod(pod);
      const found: ClaimInfo[] = [];
      for (const reference of references) found.push(await this.#find(pod, reference, signal));
      await this.#lock.run(found.map(keyOf), async () => this.#prepareLocked(pod, found, signal), signal);
    };
    await this.#operate('PrepareResources', work, signal);
  }

  /** Reads a claim, which the pod must be allowed to use and whose drivers must be registered. */
  async #find(pod: Pod, reference: ClaimReference, signal: AbortSignal): Promise<ClaimInfo> {
    const {api, driver} = this.#options;
    const {name} = reference;
    if (api === undefined) throw new SystemError(`fetch ResourceClaim ${name}: there is no API server`);
    const read = api.claim(podRef(pod).namespace, name, signal);
    const claim = checkPodClaim(pod, reference, await explained(`fetch ResourceClaim ${name}`, read, signal));
    for (const each of claim.drivers.keys()) driver(each);
    return claim;
  }

  async #prepareLocked(pod: Pod, found: readonly ClaimInfo[], signal: AbortSignal): Promise<void> {
    // Everything is checked before the first claim is stored, so that a pod that cannot run is not held up when it is deleted.
    for (const claim of found) this.#checkKnown(claim);
    const {uid} = podRef(pod);
    for (const claim of found) {
      const used = this.claims.get(claim.namespace, claim.name) ?? claim;
      this.claims.put({...used, podUids: new Set([...used.podUids, uid])});
    }
    await this.#saveClaims('cache');
    const unprepared = found.map((claim) => this.#known(claim)).filter(({isPrepared}) => !isPrepared);
    for (const [driver, claims] of byDriver(unprepared)) await this.#prepareWith(driver, claims, signal);
    for (const claim of unprepared) this.claims.put({...this.#known(claim), isPrepared: true});
    this.#countClaims();
    await this.#saveClaims('state');
  }

  /** Requires that a claim that is in use already is the same, and that its drivers are registered. */
  #checkKnown({namespace, name, uid}: ClaimInfo): void {
    const known = this.claims.get(namespace, name);
    if (known === undefined) return;
    if (known.uid !== uid)
      throw new SystemError(
        `old ResourceClaim with same name ${name} and different UID ${known.uid} still exists (previous pod force-deleted?!)`,
      );
    for (const driver of known.drivers.keys()) this.#options.driver(driver);
  }

  async #prepareWith(driver: string, claims: readonly ClaimInfo[], signal: AbortSignal): Promise<void> {
    const call = this.#options.driver(driver).prepare(claims.map(toMessage), signal);
    const answers = await explained('NodePrepareResources', call, signal);
    checkAnswers('NodePrepareResources', claims, answers);
    const given = new Map(answers.map(({key, value}) => [key, value?.devices ?? []]));
    for (const claim of claims) {
      const devices = (given.get(claim.uid) ?? []).map(toClaimDevice);
      this.claims.put(withDevices(this.#known(claim), driver, devices));
    }
  }

  /** Releases the claims of a pod whose containers have stopped (UnprepareResources). Rejects with SystemError: then try again. */
  async unprepare(podUid: string, signal?: AbortSignal): Promise<void> {
    await this.#operate('UnprepareResources', async () => {
      const keys = this.claims.ofPod(podUid).map(keyOf);
      if (keys.length > 0) await this.#lock.run(keys, async () => this.#unprepareLocked(podUid, signal));
      await this.#saveClaims('state'); // also what could not be stored before
    });
  }

  async #unprepareLocked(podUid: string, signal?: AbortSignal): Promise<void> {
    const used = this.claims.ofPod(podUid);
    const released = used.filter(({podUids}) => podUids.size === 1);
    for (const claim of used.filter((each) => !released.includes(each)))
      this.claims.put({...claim, podUids: new Set([...claim.podUids].filter((uid) => uid !== podUid))});
    for (const [driver, claims] of byDriver(released)) {
      const call = this.#options.driver(driver).unprepare(claims.map(toMessage), signal);
      checkAnswers('NodeUnprepareResources', claims, await explained('NodeUnprepareResources', call));
    }
    for (const claim of released) this.claims.delete(claim);
    this.#countClaims();
  }

  /** Releases the claims of pods that are not active any more (reconcileLoop). A failure is logged, and repeated next time. */
  async reconcile(activeUids: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const uids = new Set(this.claims.all().flatMap(({podUids}) => [...podUids]));
    await Promise.all(
      [...uids]
        .filter((uid) => !activeUids.has(uid))
        .map(async (podUID) => {
          try {
            await this.unprepare(podUID, signal);
          } catch (error) {
            rethrowUnexpected(error);
            this.#options.logger.info('Unpreparing pod resources in reconcile loop failed, will retry', {
              podUID,
              err: messageOf(error),
            });
          }
        }),
    );
  }

  /** Returns the current state of a claim that is in use. */
  #known({namespace, name}: ClaimInfo): ClaimInfo {
    const claim = this.claims.get(namespace, name);
    if (claim === undefined) throw new Error(`the claim ${namespace}/${name} is not in use`);
    return claim;
  }

  #countClaims(): void {
    this.#options.metrics.draClaimsInUse(countClaimsInUse(this.claims.all()));
  }

  async #saveClaims(what: 'cache' | 'state'): Promise<void> {
    await explained(`checkpoint ResourceClaim ${what}`, this.#save());
  }

  /** Measures an operation, and prefixes its error. */
  async #operate(operation: Operation, work: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    const {clock, metrics} = this.#options;
    const startedAt = clock.monotonic();
    const completed = (isFailed: boolean): void => {
      metrics.draOperationCompleted({operation, isFailed, durationMs: clock.monotonic() - startedAt});
    };
    try {
      await explained(`${VERBS[operation]} dynamic resources`, work(), signal);
      completed(false);
    } catch (error) {
      completed(true);
      throw error;
    }
  }
}

/** Returns the result of work; its error is prefixed. Rejects with SystemError, and with the signal's reason. */
async function explained<T>(what: string, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    signal?.throwIfAborted();
    rethrowUnexpected(cause);
    throw new SystemError(`${what}: ${messageOf(cause)}`, {cause});
  }
}

function keyOf({namespace, name}: ClaimInfo): string {
  return `${namespace}/${name}`;
}

function toMessage({namespace, uid, name}: ClaimInfo): Claim {
  return {namespace, uid, name};
}

/** Groups claims by their drivers. */
function byDriver(claims: readonly ClaimInfo[]): ReadonlyMap<string, readonly ClaimInfo[]> {
  const drivers = new Set(claims.flatMap((claim) => [...claim.drivers.keys()]));
  return new Map([...drivers].map((driver) => [driver, claims.filter((claim) => claim.drivers.has(driver))]));
}

/** Returns a device as it is stored: empty lists are nil in a kubelet. */
function toClaimDevice({poolName, deviceName, shareId, requestNames, cdiDeviceIds}: Device): ClaimDevice {
  return {
    ...{poolName, deviceName},
    shareId: shareId === '' ? undefined : shareId,
    requestNames: requestNames.length === 0 ? undefined : requestNames,
    cdiDeviceIds: cdiDeviceIds.length === 0 ? undefined : cdiDeviceIds,
  };
}
