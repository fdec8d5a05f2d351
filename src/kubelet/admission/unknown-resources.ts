import {isNativeResource} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {EventSink} from '../container/events.js';

/**
 * Tells that a pod asks for extended resources. No device plugin makes any known here, and of those that it doesn't
 * know a kubelet takes no notice: the pod runs without them (predicate.go removeMissingExtendedResources).
 */
export function tellUnknownResources(pod: Pod, events: EventSink): void {
  const names = unknownResources(pod);
  if (names.length === 0) return;
  const message = `The node doesn't know ${names.join(', ')}: containers run without, no device plugins are asked for devices`;
  events({type: 'Warning', reason: 'UnknownResource', message, pod});
}

function unknownResources({spec}: Pod): readonly string[] {
  const lists = [...(spec.initContainers ?? []), ...spec.containers].flatMap(({resources}) => [
    ...Object.keys(resources?.requests ?? {}),
    ...Object.keys(resources?.limits ?? {}),
  ]);
  return [...new Set(lists)].filter((name) => !isNativeResource(name)).toSorted();
}
