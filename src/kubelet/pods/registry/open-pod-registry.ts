import {systemRandom, type RandomSource} from '../../../base/clock.js';
import {NO_OBJECTS, type ApiObjects} from '../../contract/api-objects.js';
import {NO_METRICS, type KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import {NO_DEVICE_OBJECTS} from '../../contract/resources/device-objects.js';
import {
  ActuatedResourcesStore,
  type ActuatedResourcesBackend,
} from '../allocation/actuated-resources-store.js';
import {PodHistories} from '../history/pod-history.js';
import {isRestartingAllContainers} from '../../managers/kuberuntime/compute/restart-all-containers.js';
import {shouldRestartAfterExit} from '../../managers/kuberuntime/compute/restart-policy.js';
import {
  NodePodFilesystem,
  type MountedPodVolumes,
  type PodVolumeOperations,
} from '../../managers/pod-filesystem/node-pod-filesystem.js';
import {ProbeManager} from '../../managers/probes/probe-manager.js';
import {createOnDemandDraManager} from '../../managers/dra/dra-node-manager.js';
import {createOnDemandCsiManager} from '../../managers/volumes/csi/csi-node-manager.js';
import {ProvisionedClaims} from '../../managers/volumes/provisioning/provisioned-claims.js';
import {VolumeProvisioner} from '../../managers/volumes/provisioning/volume-provisioner.js';
import {withProvisionedClaims} from '../../managers/volumes/provisioning/with-provisioned-claims.js';
import {createNodeManagers} from '../node-managers/create-node-managers.js';
import {NodeManagerSet} from '../node-managers/node-manager-set.js';
import type {NodeAndRuntime} from './read-node.js';
import type {PodObserver} from './pod-registry-options.js';
import {PodRegistry} from './pod-registry.js';
import {VolumeUnmounts} from '../../managers/volumes/volume-unmounts.js';

/** Parts of a registry that only a daemon has. */
interface DaemonParts {
  /** Delays of first probes; by default they run at once. */
  readonly probeRandom?: RandomSource;
  /** See ProbeManagerOptions.restartGraceMs; 0 by default. */
  readonly probeRestartGraceMs?: number;
  /** Receives the operations on cgroups and volumes; nothing is counted by default. */
  readonly metrics?: KubeletMetrics;
  /** Managers of the node's resources; by default those of createNodeManagers, not started. */
  readonly nodeManagers?: NodeManagers;
  /** Actuated resources of the daemon's pods; by default those of pods of `kcri sync`. */
  readonly actuated?: ActuatedResourcesBackend;
}

/**
 * Opens the pod registry of the node's root directory. `objects` are the API objects that pods refer to; deleting pods
 * does not need them.
 */
export function openPodRegistry(
  node: NodeAndRuntime,
  observer: PodObserver,
  objects: ApiObjects = NO_OBJECTS,
  {
    probeRandom = () => 0,
    probeRestartGraceMs = 0,
    metrics = NO_METRICS,
    nodeManagers: ofDaemon,
    actuated = new ActuatedResourcesStore(node.node.rootDir),
  }: DaemonParts = {},
): PodRegistry {
  const nodeManagers = ofDaemon ?? createCommandManagers(node, objects);
  const manager = ofDaemon === undefined ? 'sync' : 'kubelet';
  const csi = () => nodeManagers.csiVolumes;
  const provisioner = new VolumeProvisioner({node: node.node, clock: node.clock, manager, csi});
  const mounted: MountedPodVolumes = new Map();
  const operations: PodVolumeOperations = new Map();
  const unmounts = new VolumeUnmounts({clock: node.clock, metrics});
  const podLimits: NodeManagers['podLimits'] = (pod, limits) => nodeManagers.podLimits(pod, limits);
  return new PodRegistry({
    ...node,
    objects: withProvisionedClaims(objects, provisioner),
    provisioner,
    files: (facts) =>
      new NodePodFilesystem(facts, systemRandom, node.clock, {
        ...{mounted, operations, unmounts, metrics, podLimits},
        csiVolumes: csi,
      }),
    mounted: (uid) => mounted.get(uid) ?? new Map(),
    metrics,
    nodeManagers,
    actuated,
    probes: new ProbeManager({
      clock: node.clock,
      random: probeRandom,
      restartGraceMs: probeRestartGraceMs,
      willRestart: (pod, container, exitCode, status) =>
        shouldRestartAfterExit(pod, container, exitCode) || isRestartingAllContainers(status),
    }),
    observer,
    histories: new PodHistories(node.node.rootDir, node.clock),
  });
}

/** Creates the managers of a command that ends: they are not started, and CSI drivers are looked up when they are needed. */
function createCommandManagers({node, clock}: NodeAndRuntime, objects: ApiObjects): NodeManagers {
  const managers = createNodeManagers(node).filter(({name}) => name !== 'csi' && name !== 'dra');
  const deviceObjects = () => objects.deviceObjects?.() ?? NO_DEVICE_OBJECTS;
  return new NodeManagerSet([
    createOnDemandDraManager({node, clock, objects: deviceObjects}),
    ...managers,
    createOnDemandCsiManager({node, clock, objects, claims: new ProvisionedClaims(node.rootDir)}),
  ]);
}
