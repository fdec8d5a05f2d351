import {findByName} from '../base/by-name.js';
import type {Container, Pod} from './types/v1-pod.js';

/** Returns the init containers and regular containers of a pod, in the order in which they start. */
export function containersOf({spec}: Pick<Pod, 'spec'>): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** Returns all containers of a pod, including ephemeral ones (podutil.VisitContainers with AllContainers). */
export function allContainersOf(pod: Pick<Pod, 'spec'>): readonly Container[] {
  return [...containersOf(pod), ...(pod.spec.ephemeralContainers ?? [])];
}

/** Reports whether this is a restartable init container (sidecar): restartPolicy Always. */
export function isRestartableInitContainer(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Returns the sidecars of a pod, in the order in which they start. */
export function sidecarsOf({spec}: Pick<Pod, 'spec'>): readonly Container[] {
  return (spec.initContainers ?? []).filter(isRestartableInitContainer);
}

/** Returns the sidecars and regular containers of a pod, which run beside each other. */
export function longRunningContainersOf(pod: Pick<Pod, 'spec'>): readonly Container[] {
  return [...sidecarsOf(pod), ...pod.spec.containers];
}

/** Containers of a spec in one list, so that findByName indexes each spec once. */
const lists = new WeakMap<Pod['spec'], readonly Container[]>();

/** Returns the init, regular or ephemeral container of that name. The spec must not change after the first call. */
export function findContainer(pod: Pick<Pod, 'spec'>, name: string): Container | undefined {
  let list = lists.get(pod.spec);
  if (list === undefined) {
    list = allContainersOf(pod);
    lists.set(pod.spec, list);
  }
  return findByName(list, name);
}
