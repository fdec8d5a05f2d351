import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager} from '../../contract/node-manager.js';
import {createProcessCgroups} from '../../managers/cgroups/process-cgroups.js';
import {createQosMemory} from '../../managers/cgroups/qos-memory.js';
import {createCpuManager} from '../../managers/cpu/cpu-manager.js';
import {createDeviceManager} from '../../managers/devices/device-node-manager.js';
import {createDraManager} from '../../managers/dra/dra-node-manager.js';
import {createMemoryManager} from '../../managers/memory/create-memory-manager.js';
import {createMemoryQosManager} from '../../managers/memory-qos/memory-qos-manager.js';
import {createPluginWatcher} from '../../managers/plugin-watcher/plugin-watcher-manager.js';
import {createPodResourcesManager} from '../../managers/pod-resources/pod-resources-manager.js';
import {createShutdownManager} from '../../managers/shutdown/shutdown-manager.js';
import {createSwapManager} from '../../managers/swap/swap-manager.js';
import {createTopologyManager} from '../../managers/topology/create-topology-manager.js';
import {listAttachedVolumes, listMountedVolumes} from '../../managers/volumes/attached-volumes.js';
import {createCsiManager} from '../../managers/volumes/csi/csi-node-manager.js';

/** Managers in the order in which they are asked. One that the node's configuration turns off is undefined. */
const FACTORIES: readonly ((node: NodeFacts) => NodeManager | undefined)[] = [
  createTopologyManager,
  createDraManager,
  createDeviceManager,
  createCpuManager,
  createMemoryManager,
  createSwapManager,
  createMemoryQosManager,
  createPodResourcesManager,
  (node) => createCsiManager(node, {listAttached: listAttachedVolumes, listMounted: listMountedVolumes}),
  createPluginWatcher,
  createQosMemory,
  (node) => createProcessCgroups(node),
  (node) => createShutdownManager(node),
];

/** Creates the managers of a node. Starts nothing. */
export function createNodeManagers(node: NodeFacts): readonly NodeManager[] {
  return FACTORIES.flatMap((create) => create(node) ?? []);
}
