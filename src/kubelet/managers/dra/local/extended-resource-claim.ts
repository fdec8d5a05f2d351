import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import {quantityValue} from '../../../../api/quantity.js';
import type {DeviceClass, DeviceRequest} from '../../../../api/types/v1-device-resources.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {ContainerExtendedResourceRequest} from '../../../../api/types/v1-status.js';
import {findExtendedClass} from '../core/extended-class.js';

/** Requests of the claim for a pod's extended resources, and which container has which of them. */
export interface ExtendedResourcePlan {
  readonly requests: readonly DeviceRequest[];
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

/** A container, its place among init containers and containers, and whether it ends before the last of them start. */
interface Place {
  readonly container: Container;
  readonly index: number;
  readonly ends: boolean;
}

/** Returns the requests for extended resources that DeviceClasses provide and that no device plugin offers (createRequestsAndMappings). */
export function planExtendedResources(
  {spec}: Pod,
  classes: readonly DeviceClass[],
  isOffered: (resource: string) => boolean,
): ExtendedResourcePlan {
  const {initContainers = []} = spec;
  const places = [...initContainers, ...spec.containers].map((container, index) => ({
    container,
    index,
    ends: index < initContainers.length && !isRestartableInitContainer(container),
  }));
  const plans = resourcesOf(places.map(({container}) => container)).flatMap((resource) => {
    const deviceClass = isOffered(resource) ? undefined : findExtendedClass(classes, resource);
    const className = deviceClass?.metadata.name;
    return className === undefined ? [] : [planResource(places, resource, className)];
  });
  const requests = plans.flatMap((plan) => plan.requests);
  return {
    requests: requests.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    mappings: plans.flatMap(({mappings}) => mappings),
  };
}

/**
 * Returns the requests for one resource. Containers that run side by side have devices of their own. Init containers that end share
 * one request, the largest of theirs, and use devices of the containers after them.
 */
function planResource(places: readonly Place[], resource: string, className: string): ExtendedResourcePlan {
  const lasting = places
    .filter(({ends}) => !ends)
    .map((place) => ({place, ...planContainer(place, {resource, className, reusable: []})}));
  const ending = places
    .filter(({ends}) => ends)
    .map((place) => {
      const later = lasting.filter((other) => other.place.index >= place.index);
      const reusable = later.flatMap(({request}) => request ?? []);
      return planContainer(place, {resource, className, reusable});
    });
  const counts = ending.flatMap(({request}) => request ?? []);
  const [largest] = counts.toSorted((a, b) => countOf(b) - countOf(a));
  const merged = new Set(counts.map(({name}) => name));
  return {
    requests: [...(largest === undefined ? [] : [largest]), ...lasting.flatMap(({request}) => request ?? [])],
    mappings: [
      ...lasting.flatMap(({mappings}) => mappings),
      ...ending
        .flatMap(({mappings}) => mappings)
        .map((mapping) =>
          largest !== undefined && merged.has(mapping.requestName)
            ? {...mapping, requestName: largest.name}
            : mapping,
        ),
    ],
  };
}

function countOf({exactly}: DeviceRequest): number {
  return exactly?.count ?? 1;
}

function resourcesOf(containers: readonly Container[]): readonly string[] {
  const names = containers.flatMap(({resources}) => Object.keys(resources?.requests ?? {}));
  return [...new Set(names)].toSorted();
}

/** Returns what a container needs besides the requests that it can reuse (createResourceRequestAndMappings). */
function planContainer(
  {container, index}: Place,
  {
    resource,
    className,
    reusable,
  }: {readonly resource: string; readonly className: string; readonly reusable: readonly DeviceRequest[]},
): {
  readonly request?: DeviceRequest;
  readonly mappings: readonly ContainerExtendedResourceRequest[];
} {
  const {requests = {}} = container.resources ?? {};
  const wanted = Number(quantityValue(requests[resource] ?? '0'));
  const mapping = (requestName: string): ContainerExtendedResourceRequest => ({
    containerName: container.name,
    resourceName: resource,
    requestName,
  });
  const mappings: ContainerExtendedResourceRequest[] = [];
  let missing = wanted;
  for (const one of reusable) {
    if (missing <= 0) break;
    missing -= countOf(one);
    mappings.push(mapping(one.name));
  }
  if (missing <= 0) return {mappings};
  const name = `container-${index}-request-${Object.keys(requests).toSorted().indexOf(resource)}`;
  return {
    request: {name, exactly: {deviceClassName: className, allocationMode: 'ExactCount', count: missing}},
    mappings: [...mappings, mapping(name)],
  };
}
