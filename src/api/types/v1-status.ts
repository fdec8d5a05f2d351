import type {
  ConditionStatus,
  RecursiveReadOnlyMode,
  ResourceList,
  ResourceRequirements,
  Time,
} from './v1-meta.js';

/** The health of a device. */
export const RESOURCE_HEALTH_STATUSES = ['Healthy', 'Unhealthy', 'Unknown'] as const;
export type ResourceHealthStatus = (typeof RESOURCE_HEALTH_STATUSES)[number];

/** Phases of a pod. */
export const POD_PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;
export type PodPhase = (typeof POD_PHASES)[number];

/** Reports whether a pod has reached a terminal phase (IsPodPhaseTerminal). */
export function hasEnded(phase: PodPhase | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Quality of service classes, derived from requests and limits. */
export const QOS_CLASSES = ['Guaranteed', 'Burstable', 'BestEffort'] as const;
export type PodQOSClass = (typeof QOS_CLASSES)[number];

/** States of a resize. */
export const RESIZE_STATUSES = ['', 'InProgress', 'Deferred', 'Infeasible', 'Proposed'] as const;
export type PodResizeStatus = (typeof RESIZE_STATUSES)[number];

/** State of a container that is not running, and why. */
export interface ContainerStateWaiting {
  readonly reason?: string;
  readonly message?: string;
}

/** State of a running container. */
export interface ContainerStateRunning {
  readonly startedAt?: Time;
}

/** State of a container that has exited. */
export interface ContainerStateTerminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: Time;
  readonly finishedAt?: Time;
  readonly containerID?: string;
}

/** The container's state; at most one field is set, and none means waiting. */
export interface ContainerState {
  readonly waiting?: ContainerStateWaiting;
  readonly running?: ContainerStateRunning;
  readonly terminated?: ContainerStateTerminated;
}

/** The identity of a container's first process. */
export interface LinuxContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups?: readonly number[];
}

/** The identity of a container's first process, by operating system. */
export interface ContainerUser {
  readonly linux?: LinuxContainerUser;
}

/** Image of an image volume. */
export interface ImageVolumeStatus {
  readonly imageRef?: string;
}

/** Status of a mounted volume. */
export interface VolumeStatus {
  readonly image?: ImageVolumeStatus;
}

/** Status of a volume mount in a container. */
export interface VolumeMountStatus {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: RecursiveReadOnlyMode;
  readonly volumeStatus?: VolumeStatus;
}

/** The health of one device. */
export interface ResourceHealth {
  readonly resourceID: string;
  readonly health?: ResourceHealthStatus;
  readonly message?: string;
}

/** The health of the devices of one resource. */
export interface ResourceStatus {
  readonly name: string;
  readonly resources?: readonly ResourceHealth[];
}

/** Status of one container. */
export interface ContainerStatus {
  readonly name: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
  readonly volumeMounts?: readonly VolumeMountStatus[];
  readonly user?: ContainerUser;
  readonly allocatedResourcesStatus?: readonly ResourceStatus[];
  readonly stopSignal?: string;
}

/** A condition of the pod, with the time of its last transition. */
export interface PodCondition {
  readonly type: string;
  readonly observedGeneration?: number;
  readonly status: ConditionStatus;
  readonly lastProbeTime?: Time;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}

/** An address of the node. */
export interface HostIP {
  readonly ip: string;
}

/** An address of the pod. */
export interface PodIP {
  readonly ip: string;
}

/** Claim created for an entry of `spec.resourceClaims`. */
export interface PodResourceClaimStatus {
  readonly name: string;
  readonly resourceClaimName?: string;
}

/** Mapping of a container's extended resource to a request of a claim. */
export interface ContainerExtendedResourceRequest {
  readonly containerName: string;
  readonly resourceName: string;
  readonly requestName: string;
}

/** Claim created for extended resources. */
export interface PodExtendedResourceClaimStatus {
  readonly requestMappings: readonly ContainerExtendedResourceRequest[];
  readonly resourceClaimName: string;
}

/** Native resources of the node that a claim uses. */
export interface NodeAllocatableResourceClaimStatus {
  readonly resourceClaimName: string;
  readonly containers?: readonly string[];
  readonly resources: ResourceList;
}

/** Observed state of a pod; written by the kubelet, never read from a manifest. */
export interface PodStatus {
  readonly observedGeneration?: number;
  readonly phase?: PodPhase;
  readonly conditions?: readonly PodCondition[];
  readonly message?: string;
  readonly reason?: string;
  readonly nominatedNodeName?: string;
  readonly hostIP?: string;
  readonly hostIPs?: readonly HostIP[];
  readonly podIP?: string;
  readonly podIPs?: readonly PodIP[];
  readonly startTime?: Time;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: PodQOSClass;
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly resize?: PodResizeStatus;
  readonly resourceClaimStatuses?: readonly PodResourceClaimStatus[];
  readonly extendedResourceClaimStatus?: PodExtendedResourceClaimStatus;
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
  readonly nodeAllocatableResourceClaimStatuses?: readonly NodeAllocatableResourceClaimStatus[];
}
