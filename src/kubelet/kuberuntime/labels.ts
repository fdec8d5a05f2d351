import {containerHash} from '../../api/hash.js';
import {containerPort, lifecycleHandler} from '../../api/schema-pod.js';
import type {Container, Pod} from '../../api/v1.js';
import type {ContainerStatus, PodSandboxId} from '../../cri/index.js';
import {podRef} from '../container/pod-ref.js';
import type {RuntimeContainerStatus} from '../container/pod-status.js';
import {apiJson, apiJsonList} from './api-json.js';

export const POD_NAME_LABEL = 'io.kubernetes.pod.name';
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
export const POD_UID_LABEL = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';

/** What is written beside a container, to be read back after a restart of kcri. */
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

type Texts = Readonly<Record<string, string>>;

/** The three labels by which the pod of a sandbox or container is found again. */
function podLabels(pod: Pod): Texts {
  const {name, namespace, uid} = podRef(pod);
  return {[POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid};
}

/** The Pod's labels and the pod's identity, which wins (kuberuntime newPodLabels). */
export function sandboxLabels(pod: Pod): Texts {
  return {...pod.metadata.labels, ...podLabels(pod)};
}

/** The pod's identity and the container's name; the Pod's own labels stay with the sandbox (newContainerLabels). */
export function containerLabels(pod: Pod, containerName: string): Texts {
  return {...podLabels(pod), [CONTAINER_NAME_LABEL]: containerName};
}

/** What the kubelet must know of a container when its Pod is gone (newContainerAnnotations). */
export function containerAnnotations(pod: Pod, container: Container, restartCount: number): Texts {
  const {ports = [], lifecycle} = container;
  const texts: Readonly<Record<keyof typeof CONTAINER_ANNOTATIONS, string | number | undefined>> = {
    hash: containerHash(container),
    restartCount,
    terminationMessagePath: container.terminationMessagePath ?? '',
    terminationMessagePolicy: container.terminationMessagePolicy ?? '',
    deletionGracePeriod: pod.metadata.deletionGracePeriodSeconds,
    terminationGracePeriod: pod.spec.terminationGracePeriodSeconds,
    preStopHandler: lifecycle?.preStop && apiJson(lifecycleHandler, lifecycle.preStop),
    ports: ports.length > 0 ? apiJsonList(containerPort, ports) : undefined,
  };
  const annotations: Record<string, string> = {};
  for (const [name, key] of Object.entries(CONTAINER_ANNOTATIONS)) {
    const text = texts[name as keyof typeof CONTAINER_ANNOTATIONS];
    if (text !== undefined) annotations[key] = String(text);
  }
  return annotations;
}

/** A container's CRI status together with what its labels and annotations say (toKubeContainerStatus). */
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

/** A count that somebody else wrote badly is 0, as with the kubelet. */
function parseCount(text = ''): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
