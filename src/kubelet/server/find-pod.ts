import type {Container, Pod} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import {CriError, type ContainerId} from '../../cri/index.js';
import {goQuote} from '../../format/go-quote.js';
import {podRef} from '../container/pod-ref.js';
import {findContainerStatus, type RuntimePodStatus} from '../container/pod-status.js';
import {HttpError, type KubeletRequest} from './answer.js';
import type {ServedKubelet} from './served-kubelet.js';

/** The pod that the path names. Throws HttpError 404 with the message when there is none. */
export function podOf(kubelet: ServedKubelet, {params}: KubeletRequest, message = 'pod does not exist'): Pod {
  const {podNamespace, podID} = params;
  const pod = kubelet.pods().find((one) => {
    const {name, namespace} = podRef(one);
    return name === podID && namespace === podNamespace;
  });
  if (pod === undefined) throw new HttpError(404, message);
  return pod;
}

/** The container of the Pod's manifest. */
export function containerSpec({spec}: Pod, name: string): Container | undefined {
  return [...spec.containers, ...(spec.initContainers ?? [])].find((container) => container.name === name);
}

/** The instance of the named container that runs now. Throws HttpError in the kubelet's words. */
export function runningContainer(kubelet: ServedKubelet, pod: Pod, {params}: KubeletRequest): ContainerId {
  const {uid, containerName = ''} = params;
  const found =
    uid === undefined || uid === podRef(pod).uid
      ? findContainerStatus(runtimeStatusOf(kubelet, pod), containerName)
      : undefined;
  if (found?.state !== 'CONTAINER_RUNNING')
    throw new HttpError(500, `container not found (${goQuote(containerName)})`);
  return found.id;
}

/** What runs of the pod. Throws HttpError 500 when the runtime couldn't tell. */
export function runtimeStatusOf(kubelet: ServedKubelet, pod: Pod): RuntimePodStatus {
  try {
    return kubelet.runtimeStatus(podRef(pod).uid);
  } catch (error) {
    throw new HttpError(500, messageOf(error));
  }
}

/** What a runtime's refusal of a session is answered with (streaming.WriteError). */
export function criFault(error: unknown): HttpError {
  if (!(error instanceof CriError)) throw error;
  if (error.grpcCode === 'NOT_FOUND') return new HttpError(404, error.message);
  if (error.grpcCode === 'RESOURCE_EXHAUSTED') return new HttpError(429, error.message, {'retry-after': '1'});
  return new HttpError(500, error.message);
}
