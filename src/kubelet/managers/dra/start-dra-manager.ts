import {join} from 'node:path';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {ResourceStatus} from '../../../api/types/v1-status.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import type {CDIDevice} from '../../../cri/index.js';
import type {NodeManagerServices} from '../../contract/node-manager.js';
import type {ClaimUse} from '../../contract/resources/pod-resource-use.js';
import {readCheckpointFile, writeCheckpointFile} from '../../resources/checkpoint/checkpoint.js';
import {cdiDevicesOf, claimUsesOf, resourceStatusesOf} from './core/container-devices.js';
import {DeviceHealth, type DeviceName} from './core/device-health.js';
import {DRA_CHECKPOINT, formatDraCheckpoint, parseDraCheckpoint} from './core/dra-checkpoint.js';
import {DraManager} from './dra-manager.js';
import type {LocalDra} from './local/local-dra.js';
import {preparedClaims} from './local/prepared-devices.js';
import type {ResourceApi} from '../../contract/cluster/resource-api.js';
import {DriverRegistry} from './driver-registry.js';

/** The DRA manager of a daemon. */
export interface RunningDraManager {
  readonly manager: Pick<DraManager, 'prepare' | 'unprepare' | 'reconcile' | 'claims'>;
  readonly drivers: Pick<DriverRegistry, 'validate' | 'register' | 'deregister'>;
  readonly cdiDevices: (pod: Pod, container: Container) => readonly CDIDevice[];
  readonly claims: (pod: Pod, container: Container) => readonly ClaimUse[];
  readonly statuses: (pod: Pod, container: Container) => readonly ResourceStatus[];
  /** Claims of the manifests; undefined with an API server. */
  readonly local: LocalDra | undefined;
}

/**
 * Restores the claims of an earlier kubelet, and lets drivers register until the signal aborts (Manager Start). Rejects with
 * SystemError if what that has stored cannot be used: devices might be given to two pods.
 */
export async function startDraManager(
  services: NodeManagerServices,
  signal: AbortSignal,
): Promise<RunningDraManager> {
  const {node, clock, metrics, syncPods} = services;
  const local = await openLocalDra(services, () => manager);
  const api = services.resourceApi ?? (local && localApi(local));
  const logger = services.logger.forFile('start-dra-manager.ts');
  const path = join(node.rootDir, DRA_CHECKPOINT);
  const health = new DeviceHealth();
  const drivers = new DriverRegistry({
    ...{api: services.resourceApi, clock, metrics, logger},
    onHealth: (driver, devices) => {
      const changed = health.update(driver, devices, clock.monotonic());
      const uids = usersOf(manager, driver, changed);
      if (uids.length > 0) syncPods(uids);
    },
    onHealthLost: (driver) => {
      health.clear(driver);
    },
  });
  const manager = new DraManager({
    ...{api, metrics, clock, logger},
    driver: (name) => drivers.get(name),
    writeCheckpoint: (text) => writeCheckpointFile(path, text),
  });
  await restore(manager, path);
  onAbort(signal, () => {
    drivers.stopFollowing();
  });
  onAbort(services.ended, () => {
    drivers.close();
  });
  const problem = await local?.load();
  if (problem !== undefined) logger.error(problem, 'Failed to read a resource claim: pods with claims wait');
  return {
    manager,
    drivers,
    local,
    cdiDevices: (pod, container) => cdiDevicesOf(manager.claims, pod, container),
    claims: (pod, container) => claimUsesOf(manager.claims, pod, container),
    statuses: (pod, container) =>
      resourceStatusesOf(manager.claims, pod, container, (driver, device) =>
        health.of(driver, device, clock.monotonic()),
      ),
  };
}

/** Opens the claims of the manifests, unless there is an API server. In a plan, nothing is stored, and there is no manager. */
export async function openLocalDra(
  {node, deviceObjects, isPlan, podResources}: NodeManagerServices,
  manager?: () => Pick<DraManager, 'claims'>,
): Promise<LocalDra | undefined> {
  if (deviceObjects === undefined) return undefined;
  const {LocalDra: Local} = await import('./local/local-dra.js');
  return new Local({
    ...{node, manager: 'kubelet', objects: deviceObjects, isPlan: isPlan === true},
    isOffered: (resource) =>
      podResources.some(({allocatable}) =>
        (allocatable().devices ?? []).some((one) => one.resource === resource),
      ),
    ...(manager !== undefined && {
      prepared: async () => Promise.resolve(preparedClaims(manager().claims.all())),
    }),
  });
}

/** Answers as an API server would, from memory. */
function localApi(local: LocalDra): Pick<ResourceApi, 'claim'> {
  return {claim: async (namespace, name) => Promise.resolve(local.claim(namespace, name))};
}

/** Restores the state of an earlier kubelet. Like a kubelet, it stores an empty one if there is none. */
async function restore(manager: DraManager, path: string): Promise<void> {
  await readState(path, async (text) => {
    if (text === undefined) await writeCheckpointFile(path, formatDraCheckpoint(undefined));
    else manager.restore(text);
  });
}

/** Rejects with SystemError if a daemon could not start with the state of an earlier kubelet. Changes nothing. */
export async function checkState({node}: Pick<NodeManagerServices, 'node'>): Promise<void> {
  await readState(join(node.rootDir, DRA_CHECKPOINT), (text) => text && parseDraCheckpoint(text));
}

async function readState(path: string, use: (text: string | undefined) => unknown): Promise<void> {
  try {
    await use(await readCheckpointFile(path));
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new SystemError(
      `create ResourceClaim cache: GetOrCreate() on checkpoint state: failed to get checkpoint ${DRA_CHECKPOINT}: ${messageOf(cause)}`,
      {hint: `drain the node, and delete ${path}`, cause},
    );
  }
}

/** Returns the UIDs of the pods that use one of the devices. */
function usersOf({claims}: DraManager, driver: string, devices: readonly DeviceName[]): readonly string[] {
  if (devices.length === 0) return [];
  const users = claims
    .all()
    .filter(({drivers}) =>
      drivers
        .get(driver)
        ?.some((used) =>
          devices.some(
            ({poolName, deviceName}) => used.poolName === poolName && used.deviceName === deviceName,
          ),
        ),
    );
  return [...new Set(users.flatMap(({podUids}) => [...podUids]))];
}
