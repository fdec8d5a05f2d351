import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {Clock} from '../../../../base/clock.js';
import {SILENT_LOGGER} from '../../../../base/logger.js';
import type {CDIDevice} from '../../../../cri/index.js';
import {findPlugins, pluginRegistry} from '../../../../plugin-api/find-plugins.js';
import {NO_METRICS} from '../../../contract/kubelet-metrics.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {ManagedPodStatus, PreparationFailure} from '../../../contract/node-manager.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {DeviceObjects} from '../../../contract/resources/device-objects.js';
import {ClaimCache, newClaim, type ClaimInfo} from '../core/claim-info.js';
import {cdiDevicesOf} from '../core/container-devices.js';
import {formatDraCheckpoint, parseDraCheckpoint} from '../core/dra-checkpoint.js';
import {chooseVersion} from '../core/driver-versions.js';
import {DraManager} from '../dra-manager.js';
import {DriverConnection, type DriverCalls} from '../driver-connection.js';
import {preparationFailure} from '../preparation-failure.js';
import type {AllocatedClaim} from './allocated-claim.js';
import {LocalDra} from './local-dra.js';
import {withClaimStatuses} from './local-claims.js';

/** What OnDemandDra works with. */
export interface OnDemandDraOptions {
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly objects: () => DeviceObjects;
}

/**
 * Claims of the pods of a command that ends. Drivers do not register: each call looks them up by the sockets in `plugins_registry` of
 * the root directory. What they have prepared is stored with the claim.
 */
export class OnDemandDra {
  readonly #options: OnDemandDraOptions;
  readonly #local: LocalDra;

  constructor(options: OnDemandDraOptions) {
    this.#options = options;
    this.#local = new LocalDra({...options, manager: 'sync'});
  }

  /** Allocates and prepares the claims of a pod; resolves with its event if they cannot be had now. Rejects with SystemError. */
  async prepare(pod: Pod, signal: AbortSignal): Promise<PreparationFailure | undefined> {
    try {
      const allocated = await this.#local.allocate(pod, signal);
      if (!('pod' in allocated)) return allocated;
      const claims = this.#local.ofPod(podRef(pod).uid);
      if (claims.length > 0)
        await this.#locked(claims, async () => this.#prepare(allocated.pod, signal), signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      rethrowUnexpected(error);
      return preparationFailure(error);
    }
  }

  async #prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const claims = await this.#local.claims.ofPod(podRef(pod).uid);
    const manager = await this.#openManager(claims.flatMap((one) => restored(one) ?? []));
    await manager.prepare(pod, signal);
  }

  /** Releases the claims of a pod whose containers have stopped. Rejects with SystemError: then try again. */
  async release(podUid: string, signal?: AbortSignal): Promise<void> {
    const claims = await this.#local.claims.ofPod(podUid);
    if (claims.length === 0) {
      this.#local.forget(podUid);
      return;
    }
    await this.#locked(claims, async () => {
      const current = await this.#local.claims.ofPod(podUid);
      const manager = await this.#openManager(current.flatMap((one) => restored(one) ?? []));
      await this.#unprepare(manager, podUid, signal);
      await this.#local.release(podUid, signal);
    });
  }

  async #unprepare(manager: DraManager, podUid: string, signal?: AbortSignal): Promise<void> {
    try {
      await manager.unprepare(podUid, signal);
    } catch (cause) {
      signal?.throwIfAborted();
      rethrowUnexpected(cause);
      const directory = pluginRegistry(this.#options.node.rootDir);
      throw new SystemError(`cannot release the resource claims of the pod ${podUid}: ${messageOf(cause)}`, {
        cause,
        hint: `start the DRA driver, which needs a socket in ${JSON.stringify(directory)}, and delete the pod again`,
      });
    }
  }

  /** Returns the CDI devices that were prepared for a container. Rejects with SystemError. */
  async cdiDevices(pod: Pod, container: Container): Promise<readonly CDIDevice[]> {
    const claims = await this.#local.claims.ofPod(podRef(pod).uid);
    if (claims.length === 0) return [];
    const cache = new ClaimCache();
    for (const claim of claims.flatMap((one) => restored(one) ?? [])) cache.put(claim);
    return cdiDevicesOf(cache, withClaimStatuses(pod, claims), container);
  }

  statusOf(pod: Pod): ManagedPodStatus | undefined {
    return this.#local.statusOf(pod);
  }

  /** Opens a manager with claims as they are stored, and the drivers that can be found now. */
  async #openManager(claims: readonly ClaimInfo[]): Promise<DraManager> {
    const {node, clock} = this.#options;
    const drivers = await findDrivers(node, clock);
    const manager = new DraManager({
      api: {claim: async (namespace, name) => Promise.resolve(this.#local.claim(namespace, name))},
      driver: (name) => {
        const found = drivers.get(name);
        if (found === undefined) throw new SystemError(`DRA driver ${name} is not registered`);
        return found;
      },
      writeCheckpoint: async (text) => {
        for (const claim of parseDraCheckpoint(text))
          await this.#local.claims.setPrepared(claim.uid, formatDraCheckpoint([claim]));
      },
      metrics: NO_METRICS,
      clock,
      logger: SILENT_LOGGER.forFile('on-demand-dra.ts'),
    });
    for (const claim of claims) manager.claims.put(claim);
    return manager;
  }

  /** Runs work while no other command prepares or releases the claims. */
  async #locked(
    claims: readonly AllocatedClaim[],
    work: () => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const [first, ...others] = claims.toSorted((a, b) =>
      a.claim.metadata.uid < b.claim.metadata.uid ? -1 : 1,
    );
    if (first === undefined) {
      await work();
      return;
    }
    await this.#local.claims.withClaimLock(first, async () => this.#locked(others, work, signal), signal);
  }
}

/** Returns a claim as its drivers have prepared it, for all its pods; undefined if none was asked to. */
function restored({claim, manager, prepared}: AllocatedClaim): ClaimInfo | undefined {
  const {uid, name, namespace} = claim.metadata;
  const {allocation, reservedFor} = claim.status;
  const drivers = allocation.devices.results.map(({driver}) => driver);
  const info = newClaim({uid, name, namespace, drivers});
  const podUids = new Set(reservedFor.map((consumer) => consumer.uid));
  // What a kubelet has prepared is in its own file.
  if (prepared === undefined) return manager === 'kubelet' ? {...info, podUids} : undefined;
  const state = parseDraCheckpoint(prepared)[0];
  return {...info, podUids, drivers: state?.drivers ?? info.drivers};
}

/** Returns the drivers with a socket in the directory of the root directory. */
async function findDrivers(
  {rootDir}: Pick<NodeFacts, 'rootDir'>,
  clock: Clock,
): Promise<ReadonlyMap<string, DriverCalls>> {
  const plugins = await findPlugins(pluginRegistry(rootDir), 'DRAPlugin');
  return new Map(
    plugins.map(({name: driver, endpoint, versions}) => {
      const version = chooseVersion({name: driver, endpoint, versions});
      return [driver, new DriverConnection({driver, endpoint, version, clock, metrics: NO_METRICS})];
    }),
  );
}
