import type {Pod} from '../../api/types/v1-pod.js';
import type {PodStatus} from '../../api/types/v1-status.js';
import type {Clock} from '../../base/clock.js';
import {omit} from '../../base/omit.js';
import {podUid, type RuntimeService} from '../../cri/index.js';
import {formatRfc3339Seconds} from '../../format/time.js';
import type {ApiObjects} from '../contract/api-objects.js';
import type {ClusterLink} from '../contract/cluster/cluster-link.js';
import type {NodeEvent} from '../contract/cluster/node-event.js';
import {NO_METRICS, type KubeletMetrics} from '../contract/kubelet-metrics.js';
import type {NodeManagerServices, OwnNodeManagerServices, PodKill} from '../contract/node-manager.js';
import type {EventSink} from '../contract/pod-event.js';
import {podRef} from '../contract/pod-ref.js';
import {NO_DEVICE_OBJECTS} from '../contract/resources/device-objects.js';
import {createManifestCsi} from '../managers/volumes/csi/manifest-csi.js';
import {ProvisionedClaims} from '../managers/volumes/provisioning/provisioned-claims.js';
import {CONTAINER_NAME_LABEL, POD_UID_LABEL} from '../managers/kuberuntime/config/labels.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import {computeDisruptedStatus} from '../pods/status/compute/disrupted-status.js';
import {killPodNow} from '../pods/workers/kill-pod-now.js';
import type {KillOptions} from '../pods/workers/worker-state.js';
import type {KubeletCore} from './kubelet-core.js';

/** Parts of the kubelet that its managers work with. */
interface NodeManagerServicesOptions extends Pick<NodeManagerServices, 'clock' | 'logger'> {
  readonly node: NodeAndRuntime;
  readonly runtime: Pick<RuntimeService, 'updateContainerResources' | 'listContainers'>;
  readonly metrics?: KubeletMetrics;
  readonly cluster?: ClusterLink | undefined;
  /** Objects of the manifests, for a node without a cluster. */
  readonly objects: ApiObjects;
  /** Records an event of a pod. */
  readonly events: EventSink;
  /** Records an event about the node. */
  readonly record: (event: NodeEvent) => void;
  /** Aborts when the kubelet ends. */
  readonly ended: AbortSignal;
}

/** Returns what the managers of the node work with. */
export function createNodeManagerServices(
  {
    node: {node},
    runtime,
    clock,
    logger,
    metrics = NO_METRICS,
    cluster,
    objects,
    events,
    record,
    ended,
  }: NodeManagerServicesOptions,
  {handler, pods, workers}: Pick<KubeletCore, 'handler' | 'pods' | 'workers'>,
): OwnNodeManagerServices {
  return {
    ...{node, clock, logger, metrics, ended, resourceApi: cluster?.resourceApi},
    ...(cluster === undefined && {deviceObjects: () => objects.deviceObjects?.() ?? NO_DEVICE_OBJECTS}),
    knownPods: () => handler.knownPods(),
    activePods: () => handler.activePods(),
    allSourcesReady: () => handler.allSourcesReady,
    runningContainers: () =>
      pods.runningContainers().map(({record, container: {name, id}}) => ({pod: record.pod, name, id})),
    syncPods: (uids) => {
      handler.syncPods(uids);
    },
    readRunning: async (signal) => {
      const filter = {state: {state: 'CONTAINER_RUNNING'}} as const;
      const {containers} = await runtime.listContainers({filter}, {signal});
      return new Set(
        containers.map(({labels}) => `${labels[POD_UID_LABEL]}/${labels[CONTAINER_NAME_LABEL]}`),
      );
    },
    updateContainer: async (containerId, linux, signal) => {
      await runtime.updateContainerResources({containerId, linux}, {signal});
    },
    killPod: async (pod, how, signal) => {
      await killPodNow({workers, clock, events}, pod, killOptions(pod, how, clock), signal);
    },
    isFinished: (pod) => {
      const {uid} = podRef(pod);
      return workers.isFinished(uid) || !workers.isKnown(uid);
    },
    hasPod: (text) => {
      const uid = podUid(text);
      return workers.isKnown(uid) && !workers.isFinished(uid);
    },
    nodeEvent: record,
    nodeStatusChanged: () => cluster?.nodeStatusChanged(),
    csiCluster: cluster?.csi ?? createManifestCsi(objects, new ProvisionedClaims(node.rootDir)),
  };
}

/**
 * Returns how a pod is ended without being evicted: one that has succeeded already, or whose containers succeed when they are
 * stopped, does not fail (generateAPIPodStatus).
 */
export function killOptions(
  pod: Pod,
  {gracePeriodSeconds, reason, message}: PodKill,
  clock: Pick<Clock, 'now'>,
): Required<Pick<KillOptions, 'evict' | 'gracePeriodSeconds' | 'status'>> {
  const disruption = {reason, message, conditionMessage: message};
  return {
    evict: false,
    gracePeriodSeconds,
    status: (status) => {
      const ended = computeDisruptedStatus(pod, status, disruption, formatRfc3339Seconds(clock.now()));
      if (haveSucceeded(status)) return {...omit(ended, 'reason', 'message'), phase: 'Succeeded'};
      return status.phase === 'Succeeded' ? {...ended, phase: 'Succeeded'} : ended;
    },
  };
}

/** Reports whether all containers have stopped, each with success. */
function haveSucceeded({containerStatuses = []}: PodStatus): boolean {
  return (
    containerStatuses.length > 0 && containerStatuses.every(({state}) => state?.terminated?.exitCode === 0)
  );
}
