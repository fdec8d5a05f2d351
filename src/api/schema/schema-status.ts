import type {
  ContainerExtendedResourceRequest,
  ContainerState,
  ContainerStateRunning,
  ContainerStateTerminated,
  ContainerStateWaiting,
  ContainerStatus,
  ContainerUser,
  HostIP,
  ImageVolumeStatus,
  LinuxContainerUser,
  NodeAllocatableResourceClaimStatus,
  PodCondition,
  PodExtendedResourceClaimStatus,
  PodIP,
  PodResourceClaimStatus,
  PodStatus,
  ResourceHealth,
  ResourceStatus,
  VolumeMountStatus,
  VolumeStatus,
} from '../types/v1-status.js';
import {
  bool,
  enumeration,
  int32,
  int64,
  list,
  map,
  object,
  objectSchema,
  quantity,
  required,
  text,
  time,
} from './object-schema.js';
import {resourceRequirements} from './schema-meta.js';
import {CONDITION_STATUSES, RECURSIVE_READ_ONLY_MODES} from '../types/v1-meta.js';
import {POD_PHASES, QOS_CLASSES, RESIZE_STATUSES, RESOURCE_HEALTH_STATUSES} from '../types/v1-status.js';

// The fields of the types in v1-status.ts, in upstream's order.

export const containerStateWaiting = objectSchema<ContainerStateWaiting>('ContainerStateWaiting', {
  reason: text,
  message: text,
});

export const containerStateRunning = objectSchema<ContainerStateRunning>('ContainerStateRunning', {
  startedAt: time,
});

export const containerStateTerminated = objectSchema<ContainerStateTerminated>('ContainerStateTerminated', {
  exitCode: required(int32),
  signal: int32,
  reason: text,
  message: text,
  startedAt: time,
  finishedAt: time,
  containerID: text,
});

export const containerState = objectSchema<ContainerState>('ContainerState', {
  waiting: object(containerStateWaiting),
  running: object(containerStateRunning),
  terminated: object(containerStateTerminated),
});

export const linuxContainerUser = objectSchema<LinuxContainerUser>('LinuxContainerUser', {
  uid: required(int64),
  gid: required(int64),
  supplementalGroups: list(int64),
});

export const containerUser = objectSchema<ContainerUser>('ContainerUser', {
  linux: object(linuxContainerUser),
});

export const imageVolumeStatus = objectSchema<ImageVolumeStatus>('ImageVolumeStatus', {
  imageRef: text,
});

export const volumeStatus = objectSchema<VolumeStatus>('VolumeStatus', {
  image: object(imageVolumeStatus),
});

export const volumeMountStatus = objectSchema<VolumeMountStatus>('VolumeMountStatus', {
  name: required(text),
  mountPath: required(text),
  readOnly: bool,
  recursiveReadOnly: enumeration(RECURSIVE_READ_ONLY_MODES),
  volumeStatus: object(volumeStatus),
});

export const resourceHealth = objectSchema<ResourceHealth>('ResourceHealth', {
  resourceID: required(text),
  health: enumeration(RESOURCE_HEALTH_STATUSES),
  message: text,
});

export const resourceStatus = objectSchema<ResourceStatus>('ResourceStatus', {
  name: required(text),
  resources: list(object(resourceHealth)),
});

export const containerStatus = objectSchema<ContainerStatus>('ContainerStatus', {
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

export const podCondition = objectSchema<PodCondition>('PodCondition', {
  type: required(text),
  observedGeneration: int64,
  status: required(enumeration(CONDITION_STATUSES)),
  lastProbeTime: time,
  lastTransitionTime: time,
  reason: text,
  message: text,
});

export const hostIP = objectSchema<HostIP>('HostIP', {
  ip: required(text),
});

export const podIP = objectSchema<PodIP>('PodIP', {
  ip: required(text),
});

export const podResourceClaimStatus = objectSchema<PodResourceClaimStatus>('PodResourceClaimStatus', {
  name: required(text),
  resourceClaimName: text,
});

export const containerExtendedResourceRequest = objectSchema<ContainerExtendedResourceRequest>(
  'ContainerExtendedResourceRequest',
  {
    containerName: required(text),
    resourceName: required(text),
    requestName: required(text),
  },
);

export const podExtendedResourceClaimStatus = objectSchema<PodExtendedResourceClaimStatus>(
  'PodExtendedResourceClaimStatus',
  {
    requestMappings: required(list(object(containerExtendedResourceRequest))),
    resourceClaimName: required(text),
  },
);

export const nodeAllocatableResourceClaimStatus = objectSchema<NodeAllocatableResourceClaimStatus>(
  'NodeAllocatableResourceClaimStatus',
  {
    resourceClaimName: required(text),
    containers: list(text),
    resources: required(map(quantity)),
  },
);

export const podStatus = objectSchema<PodStatus>('PodStatus', {
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
