import type {Pod} from '../../api/v1.js';
import {json, type Answer} from './answer.js';
import type {ServerOptions} from './options.js';
import type {Route} from './routes.js';
import type {ServedKubelet} from './served-kubelet.js';

/** /pods: what is wanted, with its status, as an API server would have it. */
export function podsRoute(kubelet: ServedKubelet): Route {
  return {
    pattern: '/pods',
    methods: ['GET'],
    handle: async () => Promise.resolve(podList(kubelet.pods().map(withoutKind))),
  };
}

/** /runningpods/: what the runtime has, whoever made it (GetRunningPods). */
export function runningPodsRoute(kubelet: ServedKubelet): Route {
  return {
    pattern: '/runningpods',
    methods: ['GET'],
    handle: async () => Promise.resolve(podList(runningPods(kubelet))),
  };
}

/** /configz: the KubeletConfiguration in force. */
export function configzRoute(options: Pick<ServerOptions, 'configuration'>): Route {
  const body = (): string => {
    const fields = Object.entries(options.configuration);
    const shown = fields.filter(([name]) => name !== 'kind' && name !== 'apiVersion');
    return JSON.stringify({kubeletconfig: Object.fromEntries(shown)});
  };
  return {pattern: '/configz', handle: async () => Promise.resolve(json(body()))};
}

/** In a list only the list has a kind. */
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

/** None of pods that aren't the kubelet's own: nobody looked at them. */
function runningContainers(
  kubelet: ServedKubelet,
  uid: Parameters<ServedKubelet['runtimeStatus']>[0],
): readonly object[] {
  const containers = () => kubelet.runtimeStatus(uid).containers;
  return ifKnown(containers)
    .filter(({state}) => state === 'CONTAINER_RUNNING')
    .map(({name, cri}) => ({name, image: cri.imageRef, resources: {}}));
}

/** A pod that couldn't be read is shown without what is in it. */
function ifKnown<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function podList(items: readonly object[]): Answer {
  const list = {kind: 'PodList', apiVersion: 'v1', metadata: {}, items: items.length === 0 ? null : items};
  return json(`${JSON.stringify(list)}\n`);
}
