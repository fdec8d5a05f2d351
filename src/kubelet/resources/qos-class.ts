import {containersOf} from '../../api/pod-containers.js';
import {compareQuantities} from '../../api/quantity.js';
import {addResources} from '../../api/resource-list.js';
import type {Pod, PodSpec} from '../../api/types/v1-pod.js';
import type {ResourceList, ResourceRequirements} from '../../api/types/v1-meta.js';
import type {PodQOSClass} from '../../api/types/v1-status.js';
import {isPositive, type ResourceKind} from './resource-amounts.js';

/** Resources that determine the class. */
const QOS_RESOURCES = ['cpu', 'memory'] as const;

/**
 * Computes the QoS class of a pod (v1qos.ComputePodQOS): BestEffort without CPU or memory requests and limits,
 * Guaranteed if all containers have limits for both that equal the requests, Burstable otherwise. Pod-level resources
 * replace those of the containers. The pod must have the API defaults, which derive requests from limits.
 */
export function computePodQosClass(pod: Pod): PodQOSClass {
  let qosClass = known.get(pod.spec);
  if (qosClass === undefined) known.set(pod.spec, (qosClass = compute(pod)));
  return qosClass;
}

/** Classes by Pod spec, since the class is part of the configuration of each container. */
const known = new WeakMap<PodSpec, PodQOSClass>();

function compute(pod: Pod): PodQOSClass {
  const {resources} = pod.spec;
  const all = hasAny(resources)
    ? [resources]
    : containersOf(pod).map((container) => container.resources ?? {});
  const requests = sum(all, 'requests');
  const limits = sum(all, 'limits');
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const allLimited = all.every(({limits: own}) => QOS_RESOURCES.every((name) => isPositive(own?.[name])));
  return allLimited && equal(requests, limits) ? 'Guaranteed' : 'Burstable';
}

function hasAny(resources: ResourceRequirements | undefined): resources is ResourceRequirements {
  return [resources?.requests, resources?.limits].some((list) => Object.keys(list ?? {}).length > 0);
}

function sum(all: readonly ResourceRequirements[], kind: ResourceKind): ResourceList {
  return all.map((resources) => pickQosResources(resources[kind])).reduce(addResources, {});
}

/** Returns the positive amounts of CPU and memory. */
function pickQosResources(list: ResourceList = {}): ResourceList {
  return Object.fromEntries(
    QOS_RESOURCES.flatMap((name) => {
      const quantity = list[name];
      return isPositive(quantity) ? [[name, quantity]] : [];
    }),
  );
}

function equal(requests: ResourceList, limits: ResourceList): boolean {
  return QOS_RESOURCES.every((name) => {
    const [request, limit] = [requests[name], limits[name]];
    if (request === undefined || limit === undefined) return request === limit;
    return compareQuantities(request, limit) === 0;
  });
}
