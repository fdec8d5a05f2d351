import {hashContainer} from '../../../../api/container-hash.js';
import {containerPort, lifecycleHandler} from '../../../../api/types/v1-pod.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {ContainerStatus, PodSandboxId} from '../../../../cri/index.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {RuntimeContainerStatus} from '../../../contract/runtime-pod-status.js';
import {encodeApiJson, encodeApiJsonList} from './api-json.js';

export const POD_NAME_LABEL = 'io.kubernetes.pod.name';
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
export const POD_UID_LABEL = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';

/** Annotations of containers that kcri reads back after a restart. */
export const CONTAINER_ANNOTATIONS = {
  hash: 'io.kubernetes.container.hash',
  restartCount: 'io.kubernetes.container.restartCount',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  deletionGracePeriod: 'io.kubernetes.pod.deletionGracePeriod',
  terminationGracePeriod: 'io.kubernetes.pod.terminationGracePeriod',
  preStopHandler: 'io.kubernetes.container.preStopHandler',
  ports: 'io.kubernetes.container.ports',
} as const;

type StringMap = Readonly<Record<string, string>>;

/** Returns the three labels that identify the pod of a sandbox or container. */
function podLabels(pod: Pod): StringMap {
  const {name, namespace, uid} = podRef(pod);
  return {[POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid};
}

/** Returns the labels of the pod and those that identify it, which take precedence (kuberuntime newPodLabels). */
export function sandboxLabels(pod: Pod): StringMap {
  return {...pod.metadata.labels, ...podLabels(pod)};
}

/** Returns the labels that identify the pod and the container, without the pod's own labels (newContainerLabels). */
export function containerLabels(pod: Pod, containerName: string): StringMap {
  return {...podLabels(pod), [CONTAINER_NAME_LABEL]: containerName};
}

/** Returns the annotations that the kubelet needs when it no longer has the pod (newContainerAnnotations). */
export function containerAnnotations(pod: Pod, container: Container, restartCount: number): StringMap {
  const {ports = [], lifecycle} = container;
  const values: Readonly<Record<keyof typeof CONTAINER_ANNOTATIONS, string | number | undefined>> = {
    hash: hashContainer(container),
    restartCount,
    terminationMessagePath: container.terminationMessagePath ?? '',
    terminationMessagePolicy: container.terminationMessagePolicy ?? '',
    deletionGracePeriod: pod.metadata.deletionGracePeriodSeconds,
    terminationGracePeriod: pod.spec.terminationGracePeriodSeconds,
    preStopHandler: lifecycle?.preStop && encodeApiJson(lifecycleHandler, lifecycle.preStop),
    ports: ports.length > 0 ? encodeApiJsonList(containerPort, ports) : undefined,
  };
  const annotations: Record<string, string> = {};
  for (const [name, key] of Object.entries(CONTAINER_ANNOTATIONS)) {
    const value = values[name as keyof typeof CONTAINER_ANNOTATIONS];
    if (value !== undefined) annotations[key] = String(value);
  }
  return annotations;
}

/** Combines a CRI container status with its labels and annotations (toKubeContainerStatus). */
export function parseContainerStatus(cri: ContainerStatus, sandboxId: PodSandboxId): RuntimeContainerStatus {
  const {id, state, labels, annotations} = cri;
  return {
    id,
    sandboxId,
    name: labels[CONTAINER_NAME_LABEL] ?? cri.metadata?.name ?? '',
    state,
    restartCount: parseCount(annotations[CONTAINER_ANNOTATIONS.restartCount]),
    hash: annotations[CONTAINER_ANNOTATIONS.hash] ?? '',
    cri,
  };
}

/** Returns 0 for an invalid count, like the kubelet. */
function parseCount(value = ''): number {
  return /^\d{1,15}$/.test(value) ? Number(value) : 0;
}
