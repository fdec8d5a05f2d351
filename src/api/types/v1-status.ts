import {
  type Described,
  bool,
  enumeration,
  int32,
  int64,
  list,
  map,
  object,
  quantity,
  required,
  schemaOf,
  text,
  time,
} from '../schema/object-schema.js';
import {CONDITION_STATUSES, RECURSIVE_READ_ONLY_MODES, resourceRequirements} from './v1-meta.js';

/** The health of a device. */
export const RESOURCE_HEALTH_STATUSES = ['Healthy', 'Unhealthy', 'Unknown'] as const;

/** Phases of a pod. */
export const POD_PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;
export type PodPhase = (typeof POD_PHASES)[number];

/** Quality of service classes, derived from requests and limits. */
export const QOS_CLASSES = ['Guaranteed', 'Burstable', 'BestEffort'] as const;
export type PodQOSClass = (typeof QOS_CLASSES)[number];

/** States of a resize. */
export const RESIZE_STATUSES = ['', 'InProgress', 'Deferred', 'Infeasible', 'Proposed'] as const;

/** State of a container that is not running, and why. */
export interface ContainerStateWaiting extends Described<typeof containerStateWaiting> {}
export const containerStateWaiting = schemaOf<ContainerStateWaiting>('ContainerStateWaiting')({
  reason: text,
  message: text,
});

/** State of a running container. */
export interface ContainerStateRunning extends Described<typeof containerStateRunning> {}
export const containerStateRunning = schemaOf<ContainerStateRunning>('ContainerStateRunning')({
  startedAt: time,
});

/** State of a container that has exited. */
export interface ContainerStateTerminated extends Described<typeof containerStateTerminated> {}
export const containerStateTerminated = schemaOf<ContainerStateTerminated>('ContainerStateTerminated')({
  exitCode: required(int32),
  signal: int32,
  reason: text,
  message: text,
  startedAt: time,
  finishedAt: time,
  containerID: text,
});

/** The container's state; at most one field is set, and none means waiting. */
export interface ContainerState extends Described<typeof containerState> {}
export const containerState = schemaOf<ContainerState>('ContainerState')({
  waiting: object(containerStateWaiting),
  running: object(containerStateRunning),
  terminated: object(containerStateTerminated),
});

/** The identity of a container's first process. */
export interface LinuxContainerUser extends Described<typeof linuxContainerUser> {}
export const linuxContainerUser = schemaOf<LinuxContainerUser>('LinuxContainerUser')({
  uid: required(int64),
  gid: required(int64),
  supplementalGroups: list(int64),
});

/** The identity of a container's first process, by operating system. */
export interface ContainerUser extends Described<typeof containerUser> {}
export const containerUser = schemaOf<ContainerUser>('ContainerUser')({
  linux: object(linuxContainerUser),
});

/** Image of an image volume. */
export interface ImageVolumeStatus extends Described<typeof imageVolumeStatus> {}
export const imageVolumeStatus = schemaOf<ImageVolumeStatus>('ImageVolumeStatus')({
  imageRef: text,
});

/** Status of a mounted volume. */
export interface VolumeStatus extends Described<typeof volumeStatus> {}
export const volumeStatus = schemaOf<VolumeStatus>('VolumeStatus')({
  image: object(imageVolumeStatus),
});

/** Status of a volume mount in a container. */
export interface VolumeMountStatus extends Described<typeof volumeMountStatus> {}
export const volumeMountStatus = schemaOf<VolumeMountStatus>('VolumeMountStatus')({
  name: required(text),
  mountPath: required(text),
  readOnly: bool,
  recursiveReadOnly: enumeration(RECURSIVE_READ_ONLY_MODES),
  volumeStatus: object(volumeStatus),
});

/** The health of one device. */
export interface ResourceHealth extends Described<typeof resourceHealth> {}
export const resourceHealth = schemaOf<ResourceHealth>('ResourceHealth')({
  resourceID: required(text),
  health: enumeration(RESOURCE_HEALTH_STATUSES),
  message: text,
});

/** The health of the devices of one resource. */
export interface ResourceStatus extends Described<typeof resourceStatus> {}
export const resourceStatus = schemaOf<ResourceStatus>('ResourceStatus')({
  name: required(text),
  resources: list(object(resourceHealth)),
});

/** Status of one container. */
export interface ContainerStatus extends Described<typeof containerStatus> {}
export const containerStatus = schemaOf<ContainerStatus>('ContainerStatus')({
  name: required(text),
  state: object(containerState),
  lastState: object(containerState),
  ready: required(bool),
  restartCount: required(int32),
  image: required(text),
  imageID: required(text),
  containerID: text,
  started: bool,
  allocatedResources: map(quantity),
  resources: object(resourceRequirements),
  volumeMounts: list(object(volumeMountStatus)),
  user: object(containerUser),
  allocatedResourcesStatus: list(object(resourceStatus)),
  stopSignal: text,
});

/** A condition of the pod, with the time of its last transition. */
export interface PodCondition extends Described<typeof podCondition> {}
export const podCondition = schemaOf<PodCondition>('PodCondition')({
  type: required(text),
  observedGeneration: int64,
  status: required(enumeration(CONDITION_STATUSES)),
  lastProbeTime: time,
  lastTransitionTime: time,
  reason: text,
  message: text,
});

/** An address of the node. */
export interface HostIP extends Described<typeof hostIP> {}
export const hostIP = schemaOf<HostIP>('HostIP')({
  ip: required(text),
});

/** An address of the pod. */
export interface PodIP extends Described<typeof podIP> {}
export const podIP = schemaOf<PodIP>('PodIP')({
  ip: required(text),
});

/** Claim created for an entry of `spec.resourceClaims`. */
export interface PodResourceClaimStatus extends Described<typeof podResourceClaimStatus> {}
export const podResourceClaimStatus = schemaOf<PodResourceClaimStatus>('PodResourceClaimStatus')({
  name: required(text),
  resourceClaimName: text,
});

/** Mapping of a container's extended resource to a request of a claim. */
export interface ContainerExtendedResourceRequest extends Described<
  typeof containerExtendedResourceRequest
> {}
export const containerExtendedResourceRequest = schemaOf<ContainerExtendedResourceRequest>(
  'ContainerExtendedResourceRequest',
)({
  containerName: required(text),
  resourceName: required(text),
  requestName: required(text),
});

/** Claim created for extended resources. */
export interface PodExtendedResourceClaimStatus extends Described<typeof podExtendedResourceClaimStatus> {}
export const podExtendedResourceClaimStatus = schemaOf<PodExtendedResourceClaimStatus>(
  'PodExtendedResourceClaimStatus',
)({
  requestMappings: required(list(object(containerExtendedResourceRequest))),
  resourceClaimName: required(text),
});

/** Native resources of the node that a claim uses. */
export interface NodeAllocatableResourceClaimStatus extends Described<
  typeof nodeAllocatableResourceClaimStatus
> {}
export const nodeAllocatableResourceClaimStatus = schemaOf<NodeAllocatableResourceClaimStatus>(
  'NodeAllocatableResourceClaimStatus',
)({
  resourceClaimName: required(text),
  containers: list(text),
  resources: required(map(quantity)),
});

/** Observed state of a pod; written by the kubelet, never read from a manifest. */
export interface PodStatus extends Described<typeof podStatus> {}
export const podStatus = schemaOf<PodStatus>('PodStatus')({
  observedGeneration: int64,
  phase: enumeration(POD_PHASES),
  conditions: list(object(podCondition)),
  message: text,
  reason: text,
  nominatedNodeName: text,
  hostIP: text,
  hostIPs: list(object(hostIP)),
  podIP: text,
  podIPs: list(object(podIP)),
  startTime: time,
  initContainerStatuses: list(object(containerStatus)),
  containerStatuses: list(object(containerStatus)),
  qosClass: enumeration(QOS_CLASSES),
  ephemeralContainerStatuses: list(object(containerStatus)),
  resize: enumeration(RESIZE_STATUSES),
  resourceClaimStatuses: list(object(podResourceClaimStatus)),
  extendedResourceClaimStatus: object(podExtendedResourceClaimStatus),
  allocatedResources: map(quantity),
  resources: object(resourceRequirements),
  nodeAllocatableResourceClaimStatuses: list(object(nodeAllocatableResourceClaimStatus)),
});

/** Reports whether a pod of this status is ready (IsPodReadyConditionTrue). */
export function isPodReady({conditions = []}: PodStatus): boolean {
  return conditions.some(({type, status}) => type === 'Ready' && status === 'True');
}

/** Reports whether a pod has reached a terminal phase (IsPodPhaseTerminal). */
export function hasEnded(phase: PodPhase | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}
