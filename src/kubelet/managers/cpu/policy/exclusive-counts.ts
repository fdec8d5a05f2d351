import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import {compareQuantities, quantityMilliValue} from '../../../../api/quantity.js';
import type {Quantity} from '../../../../api/types/v1-meta.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {computePodQosClass} from '../../../resources/qos-class.js';
import {hasPodLevelResources, isPositive} from '../../../resources/resource-amounts.js';

/** Computes how many exclusive CPUs containers and pods get. */
export interface ExclusiveCounts {
  /** True if pods with resources of their own get exclusive CPUs (PodLevelResourceManagers). */
  readonly managesPodLevel: boolean;
}

/** Returns the number of exclusive CPUs of a container; 0 if it runs on the shared ones (guaranteedCPUs). */
export function countForContainer(
  {managesPodLevel}: ExclusiveCounts,
  pod: Pod,
  container: Container,
): number {
  if (computePodQosClass(pod) !== 'Guaranteed') return 0;
  if (managesPodLevel && hasPodLevelResources(pod) && !isGuaranteed(container)) return 0;
  return wholeCpus(container.resources?.requests?.['cpu']);
}

/** Reports whether a container has positive requests for CPU and memory that equal its limits. */
export function isGuaranteed({resources: {requests, limits} = {}}: Container): boolean {
  return ['cpu', 'memory'].every((name) => {
    const request = requests?.[name];
    return isPositive(request) && compareQuantities(request, limits?.[name] ?? '0') === 0;
  });
}

/**
 * Returns the number of exclusive CPUs of a pod: that of the containers that run at the same time, or of the pod itself
 * (podGuaranteedCPUs).
 */
export function countForPod(counts: ExclusiveCounts, pod: Pod): number {
  if (counts.managesPodLevel && hasPodLevelResources(pod))
    return computePodQosClass(pod) === 'Guaranteed' ? wholeCpus(pod.spec.resources?.requests?.['cpu']) : 0;
  let [initial, sidecars] = [0, 0];
  for (const container of pod.spec.initContainers ?? []) {
    const count = countForContainer(counts, pod, container);
    if (isRestartableInitContainer(container)) sidecars += count;
    else initial = Math.max(initial, sidecars + count);
  }
  const apps = pod.spec.containers.reduce((sum, each) => sum + countForContainer(counts, pod, each), 0);
  return Math.max(initial, apps + sidecars);
}

/** Returns an integer number of CPUs; 0 for any other. */
export function wholeCpus(quantity: Quantity = '0'): number {
  const milli = quantityMilliValue(quantity);
  return milli % 1000n === 0n ? Number(milli / 1000n) : 0;
}
