import {encodePod} from '../../../api/json/encode-pod.js';
import type {Pod} from '../../../api/types/v1-pod.js';
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
    handle: shareResponse(async () => podList(kubelet.pods().map(encodeItem))),
  };
}

/** Returns the route of /runningpods, all running pods in the runtime (GetRunningPods). */
export function runningPodsRoute(kubelet: ServedKubelet): Route {
  return {
    pattern: '/runningpods',
    registeredAs: '/runningpods/',
    methods: ['GET'],
    handle: shareResponse(async () => podList(runningPods(kubelet))),
  };
}

/** Returns the route of /configz, the KubeletConfiguration in effect. */
export function configzRoute(options: Pick<ServerOptions, 'configuration'>): Route {
  const body = (): string => JSON.stringify({kubeletconfig: options.configuration});
  return {
    pattern: '/configz',
    registeredAs: 'exact',
    handle: async () => Promise.resolve(jsonResponse(body())),
  };
}

/** Encodes a Pod without kind and apiVersion, which items of a list do not have. */
function encodeItem(pod: Pod): object {
  const {metadata, spec, status} = encodePod(pod);
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

/** Returns the running containers of a pod; null for pods of other clients, which the kubelet does not inspect. */
function runningContainers(
  kubelet: ServedKubelet,
  uid: Parameters<ServedKubelet['runtimeStatus']>[0],
): readonly object[] | null {
  const containers = () => kubelet.runtimeStatus(uid).containers;
  return nullIfEmpty(
    ifAvailable(containers)
      .filter(({state}) => state === 'CONTAINER_RUNNING')
      .map(({name, cri}) => ({name, image: cri.imageRef, resources: {}})),
  );
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
  const list = {kind: 'PodList', apiVersion: 'v1', metadata: {}, items: nullIfEmpty(items)};
  return jsonResponse(`${JSON.stringify(list)}\n`);
}

/** Returns null for an empty list, as Go encodes one that was never appended to. */
function nullIfEmpty<T>(items: readonly T[]): readonly T[] | null {
  return items.length === 0 ? null : items;
}
