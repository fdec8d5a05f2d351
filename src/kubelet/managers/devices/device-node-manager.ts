import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager, TopologyHints} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import type {ExtendedResources} from '../../contract/resources/extended-resources.js';
import type {DeviceManager} from './device-manager.js';
import type {PluginRegistry} from './plugin-registry.js';

const NO_HINTS: TopologyHints = new Map();
const NO_RESOURCES: ReadonlyMap<string, number> = new Map();
const NO_EXTENDED: ExtendedResources = {
  capacity: NO_RESOURCES,
  allocatable: NO_RESOURCES,
  deleted: [],
  isNew: true,
};

/** The device manager of a daemon, or of a plan. */
interface Running {
  readonly manager: DeviceManager;
  /** Undefined in a plan. */
  readonly plugins?: PluginRegistry;
  readonly isRestored: boolean;
  readonly failure?: () => string | undefined;
}

/** Creates the manager of devices; a plan has the devices that the kubelet has stored. */
export function createDeviceManager({
  devicePluginsDir: directory,
}: Pick<NodeFacts, 'devicePluginsDir'>): NodeManager | undefined {
  if (directory === undefined) return undefined;
  let running: Running | undefined;
  let describe: (pod: Pod, container: Container) => string | undefined = () => undefined;
  return {
    name: 'device',
    answersPlans: true,
    start: async (services, signal) => {
      if (services.isPlan === true) {
        const {describeDevices, planDeviceManager} = await import('./plan-device-manager.js');
        const manager = await planDeviceManager(directory, services);
        running = {manager, isRestored: true};
        describe = (pod, container) => describeDevices(manager, pod, container);
        return;
      }
      const {startDeviceManager} = await import('./start-device-manager.js');
      running = await startDeviceManager(directory, services, signal);
    },
    health: {name: 'device-plugin', failure: () => running?.failure?.()},
    topology: {
      podHints: (pod) => running?.manager.allocator.podHints(pod) ?? NO_HINTS,
      containerHints: (pod, container) =>
        running?.manager.allocator.containerHints(pod, container) ?? NO_HINTS,
      allocate: async (pod, container, affinity) => {
        await running?.manager.allocator.allocate(pod, container, affinity);
      },
    },
    containerOptions: async ({pod, container}) =>
      (await running?.manager.containerOptions(pod, container)) ?? {},
    resourceStatus: (pod, {name}) => running?.manager.resourceStatus(podRef(pod).uid, name) ?? [],
    extended: {
      takeResources: () =>
        running === undefined ? NO_EXTENDED : {...running.manager.takeCapacity(), isNew: !running.isRestored},
      used: () => running?.manager.allocator.usedCounts() ?? NO_RESOURCES,
    },
    podResources: {
      ofContainer: (uid, container) => ({devices: running?.manager.devicesOf(uid, container) ?? []}),
      allocatable: () => ({devices: running?.manager.allocatableDevices() ?? []}),
    },
    plugins: {
      type: 'DevicePlugin',
      validate: ({name, versions}) => running?.plugins?.validate(name, versions),
      register: async ({name, endpoint}, signal) => {
        await running?.plugins?.connect(name, endpoint, {signal, timeoutMs: Infinity});
      },
      deregister: ({name}) => {
        running?.plugins?.disconnect(name);
      },
    },
    explain: (pod, container) => describe(pod, container),
  };
}
