import {isIPv6} from 'node:net';
import type {ResourceList} from '../../../api/types/v1-meta.js';
import type {Node} from '../../../api/types/v1-node.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import {parseIp} from '../../../base/net/ip-address.js';
import type {PodUid} from '../../../cri/index.js';
import type {ApiObjects} from '../api-objects.js';
import type {NodeEvent} from './node-event.js';
import type {NodePressure} from './node-pressure.js';
import type {ResourceApi} from './resource-api.js';
import type {NodeFacts, RuntimeFeatures} from '../node-facts.js';
import type {ExtendedResources} from '../resources/extended-resources.js';
import type {PodEvent} from '../pod-event.js';
import type {CsiCluster} from '../volumes/csi-cluster.js';

/** State of a pod that the API server must know. */
export interface ClusterPodState {
  /** Pod of the API server; the mirror pod of a static pod. */
  readonly pod: Pod;
  /** Last computed status; undefined before the first sync. */
  readonly status: PodStatus | undefined;
  readonly couldHaveRunningContainers: boolean;
  /** True if nothing of the pod is left to stop or release on the node. */
  readonly isFinished: boolean;
  /** Start of the termination, in ms since the epoch; undefined while the pod syncs. */
  readonly terminatingAt?: number | undefined;
}

/** A static pod that runs, and the pod that represents it in the API server. */
export interface MirroredPod {
  readonly pod: Pod;
  readonly mirror: Pod | undefined;
}

/** Queue of the pods that start at once: only some of their calls run at a time (createStartLimiter). */
export interface StartQueue {
  /** True while pods wait for their turn. */
  readonly isBusy: boolean;
  /** Resolves when no pod waits for its turn. */
  whenIdle(): Promise<void>;
}

/** Facts about a kubelet for the cluster. */
export interface ClusterHost {
  /** Returns the state of a pod that the API server has; for a static pod, the state of its mirror pod. */
  podState(uid: PodUid): ClusterPodState | undefined;
  /** Returns the UIDs of all pods that are in a source, and of static pods that still have a mirror pod. */
  podUids(): readonly PodUid[];
  /** Returns the static pods that have started and are not being stopped. */
  staticPods(): readonly MirroredPod[];
  /** Returns the mirror pods whose static pod is in no source and has stopped; none before all sources are ready. */
  orphanedMirrorPods(): readonly Pod[];
  /** Returns the reasons why the node is not ready. */
  readonly nodeErrors: readonly string[];
  /** Returns the pressure conditions of the node that are true. */
  readonly pressures: readonly NodePressure[];
  /** Returns the features that the runtime reported when it was last ready; undefined before that. */
  readonly runtimeFeatures: RuntimeFeatures | undefined;
  /** Returns the extended resources for the status of the node; see ExtendedResourceProvider. */
  takeExtendedResources?(): ExtendedResources;
  /** Returns the volumes for `volumesInUse` of the node's status; undefined to keep the last ones. */
  volumesInUse?(): readonly string[] | undefined;
  /** Returns the queue of the pods that start. */
  readonly starts: StartQueue;
}

/** Facts that others may change in the Node object. */
export type NodeObjectFacts = Pick<NodeFacts, 'labels' | 'taints' | 'hostIps'> & {
  /** Allocatable resources as the status has them. */
  readonly allocatable: ResourceList;
};

/** Returns the facts of a Node object; undefined while it is not known. */
export function nodeObjectFacts(node: Node | undefined): NodeObjectFacts | undefined {
  return (
    node && {
      labels: node.metadata.labels ?? {},
      taints: node.spec.taints ?? [],
      hostIps: {current: hostIpsOf(node)},
      allocatable: node.status?.allocatable ?? {},
    }
  );
}

/** Returns the host IPs of a Node object: its primary address, and one of the other IP family (GetNodeHostIPs). */
function hostIpsOf({status}: Node): readonly string[] {
  const ips = (['InternalIP', 'ExternalIP'] as const).flatMap((type) =>
    (status?.addresses ?? []).flatMap((known) => (known.type === type ? (parseIp(known.address) ?? []) : [])),
  );
  const [primary = ''] = ips;
  const secondary = ips.find((ip) => isIPv6(ip) !== isIPv6(primary));
  return [...ips.slice(0, 1), ...(secondary === undefined ? [] : [secondary])];
}

/** A cluster that the kubelet has joined. */
export interface ClusterLink {
  /** Objects of the API server that pods refer to. */
  readonly objects: ApiObjects;
  /** Objects of resource.k8s.io. */
  readonly resourceApi: ResourceApi;
  /** What CSI drivers need of the cluster. */
  readonly csi: CsiCluster;
  /** Returns the Node object as last seen; undefined until it is known. */
  node(): Node | undefined;
  /** Registers the node and reports its state and that of its pods until the signal aborts. */
  run(host: ClusterHost, signal: AbortSignal): Promise<void>;
  /** Sends an event of a pod; never throws. */
  event(event: PodEvent): void;
  /** Sends an event about the node; never throws. */
  nodeEvent(event: NodeEvent): void;
  /** Called after each check of the runtime; never throws. */
  runtimeChecked(): void;
  /** Called when the node must report its status at once; never throws. */
  nodeStatusChanged(): void;
  /** Called when the state of a pod may have changed; never throws. */
  podChanged(uid: PodUid): void;
}
