import {join} from 'node:path';
import {isNativeResource} from '../../../api/resource-list.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import type {Device as PluginDevice} from '../../../plugin-api/gen/device-plugin/types.js';
import type {ContainerAllocateResponse} from '../../../plugin-api/gen/device-plugin/types.js';
import type {NodeManagerServices} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import {readCheckpointFile} from '../../resources/checkpoint/checkpoint.js';
import {HEALTHY} from './core/device.js';
import {parseDeviceCheckpoint, type DeviceCheckpoint} from './core/device-checkpoint.js';
import type {PluginCalls} from './core/plugin-calls.js';
import {idsOf} from './core/pod-devices.js';
import {DeviceManager} from './device-manager.js';
import {CHECKPOINT} from './plugin-directory.js';

/** Answer for devices that a plan gives out: only a plugin knows what their container needs. */
export const PLANNED_RESPONSE: ContainerAllocateResponse = {
  envs: {},
  mounts: [],
  devices: [],
  annotations: {},
  cdiDevices: [],
};

/** Plugin of a plan, which is not called: it takes what the kubelet selects. */
const PLANNED_PLUGIN: PluginCalls = {
  needsPreStart: false,
  getPreferred: undefined,
  allocate: async () => Promise.resolve(PLANNED_RESPONSE),
  preStart: async () => Promise.resolve(),
};

/**
 * Restores the device manager of a kubelet for a plan, which calls no plugin and stores nothing. Its devices are those that were
 * healthy when the checkpoint was written; their NUMA nodes are not in it. One that cannot be read is forgotten if a daemon would do
 * that, in the plan of its start; else rejects with SystemError.
 */
export async function planDeviceManager(
  directory: string,
  services: NodeManagerServices,
): Promise<DeviceManager> {
  const manager = createPlannedManager(services);
  const path = join(directory, CHECKPOINT);
  try {
    await restoreDevices(manager, await readCheckpointFile(path));
    return manager;
  } catch (cause) {
    rethrowUnexpected(cause);
    if (services.isTakeover === true) return createPlannedManager(services);
    throw new SystemError(`cannot read the devices of the kubelet from "${path}": ${messageOf(cause)}`, {
      cause,
    });
  }
}

function createPlannedManager({
  clock,
  logger,
  activePods,
  allSourcesReady,
}: NodeManagerServices): DeviceManager {
  return new DeviceManager({
    ...{clock, activePods, allSourcesReady},
    logger: logger.forFile('plan-device-manager.ts'),
    numaNodes: [],
    ranAtStart: () => false,
    writeCheckpoint: async () => Promise.resolve(),
    onHealthChanged: () => undefined,
    onAllocated: () => undefined,
  });
}

async function restoreDevices(manager: DeviceManager, checkpoint: string | undefined): Promise<void> {
  if (checkpoint === undefined) return;
  manager.restore(checkpoint);
  for (const [resource, devices] of allDevices(parseDeviceCheckpoint(checkpoint))) {
    manager.connect(resource, PLANNED_PLUGIN);
    await manager.update(resource, devices);
  }
}

/** Returns all devices of registered resources, those in use included. */
function allDevices({
  allocations,
  registered,
}: DeviceCheckpoint): ReadonlyMap<string, readonly PluginDevice[]> {
  return new Map(
    [...registered].map(([resource, healthy]) => {
      const isHealthy = new Set(healthy);
      const used = allocations.filter((each) => each.resource === resource);
      const ids = new Set([...healthy, ...used.flatMap((allocation) => [...idsOf(allocation)])]);
      const healthOf = (id: string): string => (isHealthy.has(id) ? HEALTHY : 'Unhealthy');
      return [resource, [...ids].map((ID) => ({ID, health: healthOf(ID)}))];
    }),
  );
}

/** Describes the devices that a plan gives a container; undefined if it requests none. */
export function describeDevices(
  manager: DeviceManager,
  pod: Pod,
  {name, resources}: Container,
): string | undefined {
  const given = manager.allocator.pods.container(podRef(pod).uid, name);
  const texts = Object.keys(resources?.limits ?? {}).flatMap((resource) => {
    if (isNativeResource(resource)) return [];
    const allocation = given.get(resource);
    if (allocation === undefined) return `no ${resource}, which no device plugin offers`;
    const ids = `devices ${[...idsOf(allocation)].toSorted().join(', ')} of ${resource}`;
    return allocation.response === PLANNED_RESPONSE ? `${ids}, unless its plugin prefers others` : ids;
  });
  return texts.length === 0 ? undefined : texts.join('; ');
}
