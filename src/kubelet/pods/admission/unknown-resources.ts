import {containersOf} from '../../../api/pod-containers.js';
import {isNativeResource} from '../../../api/resource-list.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {EventSink} from '../../contract/pod-event.js';

/**
 * Warns with an event that a pod requests extended resources unknown to the node. A kubelet ignores unknown resources: the pod runs without them (predicate.go removeMissingExtendedResources).
 */
export function reportUnknownResources(
  pod: Pod,
  events: EventSink,
  isKnown: (resource: string) => boolean,
): void {
  const names = unknownResources(pod).filter((name) => !isKnown(name));
  if (names.length === 0) return;
  const message = `Unknown resources ${names.join(', ')}: containers run without them, since no device plugin has registered them`;
  events({type: 'Warning', reason: 'UnknownResource', message, pod});
}

/** Returns the extended resources that containers of the pod request or limit. */
export function unknownResources(pod: Pod): readonly string[] {
  const lists = containersOf(pod).flatMap(({resources}) => [
    ...Object.keys(resources?.requests ?? {}),
    ...Object.keys(resources?.limits ?? {}),
  ]);
  return [...new Set(lists)].filter((name) => !isNativeResource(name)).toSorted();
}
