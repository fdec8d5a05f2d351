import type {Pod} from '../../../../api/types/v1-pod.js';
import {jsonResponse, type BufferedResponse} from '../kubelet-response.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {shareResponse} from '../shared-response.js';

/** Returns the route of /pods, the desired pods with their status (server.go getPods). */
export function podsRoute(kubelet: ServedKubelet): Route {
  return {
    pattern: '/pods',
    methods: ['GET'],
    handle: shareResponse(async () => podList(kubelet.pods().map(withoutKind))),
  };
}

/** Returns the route of /runningpods, all running pods in the runtime (GetRunningPods). */
export function runningPodsRoute(kubelet: ServedKubelet): Route {
  return {
    pattern: '/runningpods',
    methods: ['GET'],
    handle: shareResponse(async () => podList(runningPods(kubelet))),
  };
}

/** Returns the route of /configz, the KubeletConfiguration in effect. */
export function configzRoute(options: Pick<ServerOptions, 'configuration'>): Route {
  const body = (): string => {
    const fields = Object.entries(options.configuration);
    const shown = fields.filter(([name]) => name !== 'kind' && name !== 'apiVersion');
    return JSON.stringify({kubeletconfig: Object.fromEntries(shown)});
  };
  return {pattern: '/configz', handle: async () => Promise.resolve(jsonResponse(body()))};
}

/** Omits kind and apiVersion, which items of a list do not have. */
function withoutKind({metadata, spec, status}: Pod): object {
  return {metadata, spec, status};
}

function runningPods(kubelet: ServedKubelet): readonly object[] {
  return kubelet
    .runningPods()
    .filter(({isRunning}) => isRunning)
    .map(({name, namespace, uid}) => ({
      metadata: {name, namespace, uid},
      spec: {containers: runningContainers(kubelet, uid)},
      status: {},
    }));
}

/** Returns the running containers of a pod; empty for pods of other clients, which the kubelet does not inspect. */
function runningContainers(
  kubelet: ServedKubelet,
  uid: Parameters<ServedKubelet['runtimeStatus']>[0],
): readonly object[] {
  const containers = () => kubelet.runtimeStatus(uid).containers;
  return ifAvailable(containers)
    .filter(({state}) => state === 'CONTAINER_RUNNING')
    .map(({name, cri}) => ({name, image: cri.imageRef, resources: {}}));
}

/** Returns the result of `read`, or an empty list if the pod could not be inspected. */
function ifAvailable<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function podList(items: readonly object[]): BufferedResponse {
  const list = {kind: 'PodList', apiVersion: 'v1', metadata: {}, items: items.length === 0 ? null : items};
  return jsonResponse(`${JSON.stringify(list)}\n`);
}
