import {goJson} from '../../../api/container-hash.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {ResourceList, ResourceRequirements} from '../../../api/types/v1-meta.js';
import {byKey} from '../../../base/compare.js';

/**
 * Formats the message of a resize event: `prefix: {json}` with the requested resources of the containers (events
 * podResizeMessage).
 */
export function formatResizeMessage(prefix: string, {spec, metadata}: Pod, error = ''): string {
  const {initContainers = [], containers} = spec;
  const summary = {
    ...(initContainers.length > 0 && {initContainers: initContainers.map(summaryOf)}),
    containers: containers.map(summaryOf),
    generation: metadata.generation ?? 0,
    ...(error !== '' && {error}),
  };
  return `${prefix}: ${goJson(summary)}`;
}

function summaryOf({name, resources = {}}: Container): Readonly<Record<string, unknown>> {
  return {name, resources: sortedLikeGo(resources)};
}

function sortedLikeGo({limits, requests}: ResourceRequirements): ResourceRequirements {
  return {...(limits && {limits: sorted(limits)}), ...(requests && {requests: sorted(requests)})};
}

function sorted(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).toSorted(byKey));
}
