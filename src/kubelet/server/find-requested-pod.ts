import type {Pod} from '../../api/types/v1-pod.js';
import {messageOf} from '../../base/errors.js';
import {CriError, type ContainerId} from '../../cri/index.js';
import {goQuote} from '../../format/go-quote.js';
import {podRef} from '../contract/pod-ref.js';
import {findContainerStatus, type RuntimePodStatus} from '../contract/runtime-pod-status.js';
import {HttpError, type KubeletRequest} from './kubelet-response.js';
import type {ServedKubelet} from './served-kubelet.js';

/** Returns the pod that the path names. Throws HttpError 404 with the message if the pod does not exist. */
export function findRequestedPod(
  kubelet: ServedKubelet,
  {params}: KubeletRequest,
  message = 'pod does not exist',
): Pod {
  const {podNamespace, podID} = params;
  const pod = kubelet.pods().find((one) => {
    const {name, namespace} = podRef(one);
    return name === podID && namespace === podNamespace;
  });
  if (pod === undefined) throw new HttpError(404, message);
  return pod;
}

/**
 * Returns the ID of the running instance of the container that the path names; a UID in the path has no effect. Throws
 * HttpError 500 if the container is not running, with the message of exec unless another one is given (kubelet_pods.go
 * findContainer).
 */
export function findRunningContainer(
  kubelet: ServedKubelet,
  pod: Pod,
  {params}: KubeletRequest,
  message = `container not found (${goQuote(params['containerName'] ?? '')})`,
): ContainerId {
  const {containerName = ''} = params;
  const status = findContainerStatus(getRuntimeStatus(kubelet, pod), containerName);
  if (status?.state !== 'CONTAINER_RUNNING') throw new HttpError(500, message);
  return status.id;
}

/** Returns the pod's status in the runtime. Throws HttpError 500 if the last inspection failed. */
export function getRuntimeStatus(kubelet: ServedKubelet, pod: Pod): RuntimePodStatus {
  try {
    return kubelet.runtimeStatus(podRef(pod).uid);
  } catch (error) {
    throw new HttpError(500, messageOf(error));
  }
}

/** Maps an error of the runtime to a response (streaming.WriteError). Throws errors that are not a CriError. */
export function toHttpError(error: unknown): HttpError {
  if (!(error instanceof CriError)) throw error;
  if (error.grpcCode === 'NOT_FOUND') return new HttpError(404, error.message);
  if (error.grpcCode === 'RESOURCE_EXHAUSTED') return new HttpError(429, error.message, {'retry-after': '1'});
  return new HttpError(500, error.message);
}
