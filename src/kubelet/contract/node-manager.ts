import type {Container, Pod} from '../../api/types/v1-pod.js';
import type {PodStatus, ResourceStatus} from '../../api/types/v1-status.js';
import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {CDIDevice, ContainerId, Device, Init, LinuxContainerResources, Mount} from '../../cri/index.js';
import type {NodeEvent} from './cluster/node-event.js';
import type {ResourceApi} from './cluster/resource-api.js';
import type {KubeletMetrics} from './kubelet-metrics.js';
import type {NodeFacts} from './node-facts.js';
import type {Rejection} from './pod-rejection.js';
import type {CgroupLimits} from './resources/cgroup-limits.js';
import type {DeviceObjects} from './resources/device-objects.js';
import type {ExtendedResourceProvider, ExtendedResources} from './resources/extended-resources.js';
import type {PluginHandler} from './resources/plugin-handler.js';
import type {PodResourceProvider} from './resources/pod-resource-use.js';
import type {CsiCluster} from './volumes/csi-cluster.js';
import type {CsiVolumes} from './volumes/csi-volumes.js';

/**
 * Manager of a resource of the node: CPUs, memory, devices, swap. All members but the name are optional. Managers are asked
 * in the order of their list (createNodeManagers).
 *
 * Only a daemon starts managers, and a plan those that can answer from what is stored (`answersPlans`). `kcri sync` starts
 * none.
 */
export interface NodeManager {
  /** Name in errors, logs and plans, such as `cpu`. */
  readonly name: string;
  /** Throws SystemError if the settings are wrong or do not fit the machine, as the start does; reads no state. */
  readonly validate?: () => void;
  /** Called once, before the first pod is admitted. Rejects if the kubelet must not start. */
  readonly start?: (services: NodeManagerServices, signal: AbortSignal) => Promise<void>;
  /** True if a plan starts the manager too, to have pods admitted as they would be: then it stores nothing (`isPlan`). */
  readonly answersPlans?: boolean;
  /**
   * Allocates what the pod needs, and resolves with the reason if the node must not run it. An error becomes the rejection
   * UnexpectedAdmissionError. The pod is among the active ones already. A later part of the admission may still reject it:
   * what was allocated to pods that are not active is stale. (lifecycle.PodAdmitHandler)
   */
  readonly admit?: (pod: Pod, signal: AbortSignal) => Promise<Rejection | undefined>;
  /** True to be asked after all else that may reject a pod, as a node that shuts down; by default before the predicates. */
  readonly admitsLast?: boolean;
  /** Reasons why the node is not ready, if any. */
  readonly nodeErrors?: readonly string[];
  /** Health check of the manager. */
  readonly health?: HealthCheck;
  /** Hints for the topology manager, and allocation by its decision. */
  readonly topology?: TopologyHintProvider;
  /**
   * Prepares what the pod needs before each sandbox. Resolves with an event if it cannot be had now: then the pod waits for its
   * next sync, without a back-off (PrepareDynamicResources).
   */
  readonly preparePod?: (pod: Pod, signal: AbortSignal) => Promise<PreparationFailure | undefined>;
  /** Returns the limits of the pod's cgroup, with its changes (ResourceConfigForPod): exclusive CPUs have no quota. */
  readonly podLimits?: (pod: Pod, limits: CgroupLimits) => CgroupLimits;
  /** Returns resources of a pod's new sandbox that replace those that its containers sum up to (calculateSandboxResources). */
  readonly sandboxResources?: (pod: Pod, node: NodeFacts) => ContainerResources;
  /** Returns resources of a new container, and of a running one that is resized (generateLinuxContainerResources). */
  readonly resources?: (request: ContainerRequest) => ContainerResources;
  /**
   * Resolves with the options of a new container (PreCreateContainer, GetDeviceRunContainerOptions). An error becomes its
   * CreateContainerConfigError.
   */
  readonly containerOptions?: (request: ContainerRequest, signal: AbortSignal) => Promise<ContainerOptions>;
  /** Called with each container that was created; it starts when this resolves (PreStartContainer). Must not reject. */
  readonly containerCreated?: (pod: Pod, container: Container, id: ContainerId) => Promise<void> | void;
  /** Called before a dead container is removed, and again if that failed (PostStopContainer). Must not throw. */
  readonly containerRemoved?: (id: ContainerId) => void;
  /**
   * Called when all containers of a terminating pod have stopped; again if it rejects, and the pod waits for it
   * (UnprepareDynamicResources).
   */
  readonly podStopped?: (pod: Pod) => Promise<void>;
  /** Resolves when the background release of the resources of stopped pods has ended. */
  readonly released?: () => Promise<void>;
  /** Called periodically after the start, the first time at once. A rejection with an expected error is logged. */
  readonly reconcile?: {readonly periodMs: number; readonly run: (signal: AbortSignal) => Promise<void>};
  /** Returns the health of what a container uses, for its status (UpdateAllocatedResourcesStatus). */
  readonly resourceStatus?: (pod: Pod, container: Container) => readonly ResourceStatus[];
  /** Returns what the manager adds to the status of the pod. */
  readonly podStatus?: (pod: Pod) => ManagedPodStatus | undefined;
  /** Reports whether the manager provides an extended resource that is not in the node's status. */
  readonly offersResource?: (resource: string) => boolean;
  /** Extended resources that the manager offers. */
  readonly extended?: ExtendedResourceProvider;
  /** What the pod resources API shows of the manager. */
  readonly podResources?: PodResourceProvider;
  /** Handler of plugins that register with the plugin watcher. */
  readonly plugins?: PluginHandler;
  /** Volumes of CSI drivers; undefined before the start. */
  readonly csiVolumes?: CsiVolumes | undefined;
  /** Returns the volumes that must stay attached to the node, by unique name; undefined while they are not known. */
  readonly volumesInUse?: () => readonly string[] | undefined;
  /** Describes for `kcri plan` what the container gets, such as `exclusive CPUs 2-3`; undefined for nothing. */
  readonly explain?: (pod: Pod, container: Container) => string | undefined;
}

/** Services of a daemon for its managers. Their state files are below `node.rootDir`. */
export interface NodeManagerServices {
  readonly node: NodeFacts;
  /** True in a plan, which stores nothing. */
  readonly isPlan?: boolean;
  /** True in the plan of a daemon's start, which forgets devices that it cannot read. */
  readonly isTakeover?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Pods of the sources, also ended and rejected ones. */
  readonly knownPods: () => readonly Pod[];
  /** Pods that use resources of the node, with their allocated resources; also one that is being admitted. */
  readonly activePods: () => readonly Pod[];
  /** True when all sources have delivered their pods: only then is the state of an unknown pod stale. */
  readonly allSourcesReady: () => boolean;
  /** Running containers of pods of this kubelet, as of the last inspection. */
  readonly runningContainers: () => readonly RunningContainer[];
  /** Reads which containers run, as `UID/name`: at the start, nothing has been inspected yet. Rejects with CriError. */
  readonly readRunning: (signal: AbortSignal) => Promise<ReadonlySet<string>>;
  /** Updates resources of a running container; others stay. Rejects with CriError. */
  readonly updateContainer: (
    id: ContainerId,
    resources: ContainerResources,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Syncs pods by UID, of whose status a manager knows something new. */
  readonly syncPods: (uids: readonly string[]) => void;
  /** Kills a pod, and resolves when its containers have stopped. Rejects with SystemError if that takes too long. */
  readonly killPod: (pod: Pod, how: PodKill, signal: AbortSignal) => Promise<void>;
  /** Reports whether nothing of a pod is left to stop or release. */
  readonly isFinished: (pod: Pod) => boolean;
  /** Reports whether something of the pod with this UID is left to stop or release. */
  readonly hasPod: (uid: string) => boolean;
  /** Records an event about the node. */
  readonly nodeEvent: (event: NodeEvent) => void;
  /** Makes the node report its status at once. */
  readonly nodeStatusChanged: () => void;
  /** What CSI drivers need of the cluster; undefined without one. */
  readonly csiCluster?: CsiCluster | undefined;
  readonly metrics: KubeletMetrics;
  /**
   * Aborts after the signal of the start, when the pods that are to stop with the daemon have stopped, and their resources were
   * released: no call of a driver or plugin may go on after it, since that would keep the process from exiting.
   */
  readonly ended: AbortSignal;
  /** Objects of resource.k8s.io; undefined without an API server. */
  readonly resourceApi?: ResourceApi | undefined;
  /** Returns the objects of resource.k8s.io in the manifests; undefined with an API server. */
  readonly deviceObjects?: (() => DeviceObjects) | undefined;
  /** Those of all managers, in order. */
  readonly topology: readonly TopologyHintProvider[];
  readonly podResources: readonly PodResourceProvider[];
  readonly plugins: readonly PluginHandler[];
}

/** Services without what the managers have of each other. */
export type OwnNodeManagerServices = Omit<NodeManagerServices, 'topology' | 'podResources' | 'plugins'>;

/** How a pod is ended for the sake of the node, and the reason in its status. */
export interface PodKill {
  readonly gracePeriodSeconds: number;
  readonly reason: string;
  readonly message: string;
}

/** A running container and its pod. */
export interface RunningContainer {
  readonly pod: Pod;
  readonly name: string;
  readonly id: ContainerId;
}

/** Container to configure, and the node as of the pod's creation. */
export interface ContainerRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly node: NodeFacts;
}

/** Resources that replace those of the container's spec; entries of `unified` are added. */
export type ContainerResources = Init<LinuxContainerResources>;

/** Additions to a container's spec and volumes (kubecontainer RunContainerOptions). Mounts and variables come before its own. */
export interface ContainerOptions {
  readonly resources?: ContainerResources;
  readonly devices?: readonly Init<Device>[];
  readonly mounts?: readonly Init<Mount>[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly cdiDevices?: readonly CDIDevice[];
}

/** A health check of the kubelet's server (healthz.HealthChecker). */
export interface HealthCheck {
  /** Name in `/healthz/NAME`. */
  readonly name: string;
  /** Returns the failure; undefined if healthy. */
  readonly failure: () => string | undefined;
}

/** Description of what a manager gives a container. */
export interface Grant {
  /** Name of the manager, such as `cpu`. */
  readonly manager: string;
  readonly text: string;
}

/** What a manager adds to the status of a pod. */
export interface ManagedPodStatus {
  readonly fields: Pick<PodStatus, 'resourceClaimStatuses' | 'extendedResourceClaimStatus'>;
  /** Why the pod waits as if it was not scheduled; undefined if it does not. */
  readonly unschedulable?: string | undefined;
}

/** Event about a pod that cannot be prepared. */
export interface PreparationFailure {
  readonly reason: string;
  readonly message: string;
}

/** Set of NUMA nodes, as a bit mask, that a resource can be taken from; undefined for any (topologymanager TopologyHint). */
export interface TopologyHint {
  readonly numaNodes: bigint | undefined;
  readonly preferred: boolean;
}

/** Hints by resource; undefined for a resource without an opinion, none for one that cannot be had. */
export type TopologyHints = ReadonlyMap<string, readonly TopologyHint[] | undefined>;

/** A manager whose resource belongs to NUMA nodes (topologymanager HintProvider). */
export interface TopologyHintProvider {
  readonly podHints: (pod: Pod) => TopologyHints;
  readonly containerHints: (pod: Pod, container: Container) => TopologyHints;
  /** Allocates on the NUMA nodes of a merged hint. A rejection rejects the pod, with the reason of an AdmissionError. */
  readonly allocate: (pod: Pod, container: Container, affinity: TopologyHint) => Promise<void>;
  /** Allocates for the whole pod at once, which has resources of its own (PodLevelResourceManagers). */
  readonly allocatePod?: (pod: Pod, affinity: TopologyHint) => Promise<void>;
}

/** The managers of a node as one, as SyncPod and the admission use them. */
export interface NodeManagers {
  /** Reasons of all managers why the node is not ready. */
  readonly nodeErrors: readonly string[];
  /** Health checks of all managers. */
  readonly healthChecks: readonly HealthCheck[];
  /** Volumes of CSI drivers; undefined in a process that drivers cannot register with. */
  readonly csiVolumes: CsiVolumes | undefined;
  /** Resolves with the first rejection of the managers that are asked early, or last. */
  admit(when: 'early' | 'last', pod: Pod, signal: AbortSignal): Promise<Rejection | undefined>;
  preparePod(pod: Pod, signal: AbortSignal): Promise<PreparationFailure | undefined>;
  /** Returns the limits of the pod's cgroup, as changed by all managers in order. */
  podLimits(pod: Pod, limits: CgroupLimits): CgroupLimits;
  /** Returns the resources of all managers for a new sandbox. */
  sandboxResources(pod: Pod, node: NodeFacts): ContainerResources;
  /** Returns the resources of all managers. Throws if two contradict. */
  resources(request: ContainerRequest): ContainerResources;
  /** Resolves with the options of all managers for a new container, including resources. Rejects if two contradict. */
  containerOptions(request: ContainerRequest, signal: AbortSignal): Promise<ContainerOptions>;
  containerCreated(pod: Pod, container: Container, id: ContainerId): Promise<void>;
  containerRemoved(id: ContainerId): void;
  podStopped(pod: Pod): Promise<void>;
  /** Resolves when the background release of the resources of stopped pods has ended. */
  released(): Promise<void>;
  /** Returns the extended resources of all managers for the node status; see ExtendedResourceProvider. */
  takeExtendedResources(): ExtendedResources;
  /** Returns the volumes that must stay attached to the node, by unique name; undefined while they are not known. */
  volumesInUse(): readonly string[] | undefined;
  /** Returns the numbers of extended resources that containers use. */
  usedExtendedResources(): ReadonlyMap<string, number>;
  /** Returns the health of what a container uses of all managers. */
  resourceStatusOf(pod: Pod, container: Container): readonly ResourceStatus[];
  /** Reports whether a manager provides an extended resource that is not in the node's status. */
  offersResource(resource: string): boolean;
  /** Returns what the managers add to the status of the pod; undefined for nothing. */
  podStatus(pod: Pod): ManagedPodStatus | undefined;
  /** Returns what all managers give the container. */
  explain(pod: Pod, container: Container): readonly Grant[];
}
