import {containersOf} from '../../api/pod-containers.js';
import {compareQuantities} from '../../api/quantity.js';
import {quantityOf} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/types/v1-pod.js';
import type {ResourceList, ResourceRequirements} from '../../api/types/v1-meta.js';
import type {PodAllocation} from '../contract/resources/actuated-resources.js';
import {withPodLimits} from './resource-amounts.js';

/** Returns the resources that the Pod requests (allocationFromPod). */
export function allocationOf(pod: Pod): PodAllocation {
  const containers = containersOf(pod).map(({name, resources = {}}) => [name, resources] as const);
  return {pod: pod.spec.resources, containers: new Map(containers)};
}

/** Returns the resources of a running Pod that has what it requests (setActuatedContainerResources). */
export function actuationOf(pod: Pod): PodAllocation {
  const {resources} = pod.spec;
  const containers = containersOf(pod).map(
    (container) => [container.name, withPodLimits(container.resources, resources)] as const,
  );
  return {pod: resources, containers: new Map(containers)};
}

/**
 * Returns the resources that the status of a pod with an unfinished resize reports as allocated; undefined without one. Limits are
 * those in use, and pod-level resources those of the spec: no status reports what is allocated.
 */
export function allocationInStatus({spec, status = {}}: Pod): PodAllocation | undefined {
  const {conditions = [], initContainerStatuses = [], containerStatuses = []} = status;
  if (!conditions.some(({type}) => type.startsWith('PodResize'))) return undefined;
  const reported = new Map([...initContainerStatuses, ...containerStatuses].map((each) => [each.name, each]));
  const containers = containersOf({spec}).map(({name, resources = {}}) => {
    const {allocatedResources: requests, resources: {limits} = {}} = reported.get(name) ?? {};
    return [name, {...resources, ...(requests && {requests}), ...(limits && {limits})}] as const;
  });
  return {pod: spec.resources, containers: new Map(containers)};
}

/** Adds the pod-level resources of the Pod to stored ones that lack them: kubelets before 1.36 did not store them. */
export function withPodLevel(allocation: PodAllocation, {spec}: Pod): PodAllocation {
  return allocation.pod === undefined && spec.resources !== undefined
    ? {...allocation, pod: spec.resources}
    : allocation;
}

/**
 * Returns the Pod with its allocated resources; the same object when they equal those of the spec
 * (UpdatePodFromAllocation).
 */
export function withAllocation(pod: Pod, allocation: PodAllocation): Pod {
  if (isAllocated(pod, allocation)) return pod;
  const {containers, initContainers, resources, ...spec} = pod.spec;
  const granted = areResourcesEqual(resources, allocation.pod) ? resources : allocation.pod;
  const allocated = (container: Container): Container => withResources(container, allocation);
  return {
    ...pod,
    spec: {
      ...spec,
      containers: containers.map(allocated),
      ...(initContainers && {initContainers: initContainers.map(allocated)}),
      ...(granted && {resources: granted}),
    },
  };
}

/** Reports whether the Pod's resources equal its allocation; containers without an allocation are ignored. */
export function isAllocated(pod: Pod, allocation: PodAllocation): boolean {
  return (
    areResourcesEqual(pod.spec.resources, allocation.pod) &&
    containersOf(pod).every((container) => withResources(container, allocation) === container)
  );
}

function withResources(container: Container, {containers}: PodAllocation): Container {
  const resources = containers.get(container.name);
  if (resources === undefined || areResourcesEqual(container.resources, resources)) return container;
  return {...container, resources};
}

/** Reports whether both are equal, regardless of notation. */
export function areResourcesEqual(a: ResourceRequirements = {}, b: ResourceRequirements = {}): boolean {
  return sameList(a.requests, b.requests) && sameList(a.limits, b.limits);
}

function sameList(a: ResourceList = {}, b: ResourceList = {}): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [one, other] = [quantityOf(a, name), quantityOf(b, name)];
      return one !== undefined && other !== undefined && compareQuantities(one, other) === 0;
    })
  );
}
