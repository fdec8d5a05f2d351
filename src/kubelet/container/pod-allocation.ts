import {compareQuantities} from '../../api/quantity.js';
import {amountOf, isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/v1.js';
import type {ResourceList, ResourceRequirements} from '../../api/v1-meta.js';

/** Resources of a pod as a whole and of its containers that can be resized, by name (state.PodResourceInfo). */
export interface PodAllocation {
  readonly pod: ResourceRequirements | undefined;
  readonly containers: ReadonlyMap<string, ResourceRequirements>;
}

/**
 * What a pod's cgroup and containers were last given (the kubelet's actuated_pods_state): what differs from the
 * Pod is still to be done. `kcri plan` has an implementation that keeps nothing.
 */
export interface ActuatedResources {
  /** Reads what was kept by another process, once. Rejects with SystemError. */
  load(): Promise<void>;
  /** Undefined when nothing is known: then all is as the Pod says. */
  readonly current: PodAllocation | undefined;
  /** What can't be kept is told of, and keeps nothing else from being done; so it is with setPod. */
  setContainer(name: string, resources: ResourceRequirements): Promise<void>;
  setPod(resources: ResourceRequirements | undefined): Promise<void>;
}

/** The containers that can be resized while they run: those that don't run to their end (IsResizableContainer). */
export function resizableContainers({spec}: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []).filter(isRestartableInit), ...spec.containers];
}

/** What the Pod asks for (allocationFromPod). */
export function allocationOf(pod: Pod): PodAllocation {
  const containers = resizableContainers(pod).map(({name, resources = {}}) => [name, resources] as const);
  return {pod: pod.spec.resources, containers: new Map(containers)};
}

/** The Pod with the resources that were granted; the same object when it asks for nothing else (UpdatePodFromAllocation). */
export function withAllocation(pod: Pod, allocation: PodAllocation): Pod {
  if (isAllocated(pod, allocation)) return pod;
  const {containers, initContainers, resources, ...spec} = pod.spec;
  const granted = sameResources(resources, allocation.pod) ? resources : allocation.pod;
  const allocated = (container: Container): Container => withResources(container, allocation);
  return {
    ...pod,
    spec: {
      ...spec,
      containers: containers.map(allocated),
      ...(initContainers && {
        initContainers: initContainers.map((init) => (isRestartableInit(init) ? allocated(init) : init)),
      }),
      ...(granted && {resources: granted}),
    },
  };
}

/** Whether the Pod asks for what was granted, and for nothing of a container that is not known. */
export function isAllocated(pod: Pod, allocation: PodAllocation): boolean {
  return (
    sameResources(pod.spec.resources, allocation.pod) &&
    resizableContainers(pod).every((container) => withResources(container, allocation) === container)
  );
}

function withResources(container: Container, {containers}: PodAllocation): Container {
  const resources = containers.get(container.name);
  if (resources === undefined || sameResources(container.resources, resources)) return container;
  return {...container, resources};
}

/** Whether both say the same, however they write it. */
export function sameResources(a: ResourceRequirements = {}, b: ResourceRequirements = {}): boolean {
  return sameList(a.requests, b.requests) && sameList(a.limits, b.limits);
}

function sameList(a: ResourceList = {}, b: ResourceList = {}): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [one, other] = [amountOf(a, name), amountOf(b, name)];
      return one !== undefined && other !== undefined && compareQuantities(one, other) === 0;
    })
  );
}
