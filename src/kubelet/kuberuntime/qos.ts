import {compareQuantities} from '../../api/quantity.js';
import {addResources} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {ResourceList, ResourceRequirements} from '../../api/v1-meta.js';
import type {PodQOSClass} from '../../api/v1-status.js';
import {isPositive, type ResourceKind} from './resource-amounts.js';

/** The resources that count for the class. */
const QOS_RESOURCES = ['cpu', 'memory'] as const;

/**
 * The pod's quality of service (v1qos.ComputePodQOS): BestEffort when nobody asks for CPU or memory, Guaranteed
 * when everybody limits both and asks for as much, Burstable otherwise. Resources of the Pod itself, where it has
 * them, count instead of its containers'. Needs API defaults: requests that follow from limits.
 */
export function podQosClass(pod: Pod): PodQOSClass {
  const {containers, initContainers = [], resources} = pod.spec;
  const all = hasAny(resources)
    ? [resources]
    : [...containers, ...initContainers].map((c) => c.resources ?? {});
  const requests = sum(all, 'requests');
  const limits = sum(all, 'limits');
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const everybodyLimits = all.every(({limits: own}) =>
    QOS_RESOURCES.every((name) => isPositive(own?.[name])),
  );
  return everybodyLimits && equal(requests, limits) ? 'Guaranteed' : 'Burstable';
}

function hasAny(resources: ResourceRequirements | undefined): resources is ResourceRequirements {
  return [resources?.requests, resources?.limits].some((list) => Object.keys(list ?? {}).length > 0);
}

function sum(all: readonly ResourceRequirements[], kind: ResourceKind): ResourceList {
  return all.map((resources) => counted(resources[kind])).reduce(addResources, {});
}

/** CPU and memory as far as there is any. */
function counted(list: ResourceList = {}): ResourceList {
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
