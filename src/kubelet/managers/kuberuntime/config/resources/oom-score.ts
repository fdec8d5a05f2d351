import {isRestartableInitContainer} from '../../../../../api/pod-containers.js';
import {aggregateContainerResources} from '../../../../../api/resource-list.js';
import type {Container, Pod} from '../../../../../api/types/v1-pod.js';
import {isNodeCriticalPod} from '../../../../sources/critical-pod.js';
import {computePodQosClass} from '../../../../resources/qos-class.js';
import {memoryBytes} from '../../../../resources/resource-amounts.js';

const GUARANTEED = -997n;
const BEST_EFFORT = 1000n;
/** Lowest score of Burstable pods, above that of Guaranteed ones. */
const BURSTABLE_MIN = 3n;

/**
 * Returns the oom_score_adj of a container's processes (qos GetContainerOOMScoreAdjust). The more of the node's memory
 * a Burstable container requests, the later it is killed; a sidecar is not killed before the containers it serves.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacity: bigint): bigint {
  const qos = computePodQosClass(pod);
  if (qos === 'Guaranteed' || isNodeCriticalPod(pod)) return GUARANTEED;
  if (qos === 'BestEffort') return BEST_EFFORT;

  const share = podLevelShare(pod);
  const requests = [memoryBytes(container.resources?.requests)];
  if (isRestartableInitContainer(container)) requests.push(smallestRequest(pod));
  const scores = requests.map((request) => 1000n - (1000n * (request + share)) / memoryCapacity);
  return clamp(scores.reduce((a, b) => (a < b ? a : b)));
}

function clamp(score: bigint): bigint {
  if (score < BURSTABLE_MIN) return BURSTABLE_MIN;
  return score === BEST_EFFORT ? score - 1n : score;
}

/**
 * Returns the pod-level memory request beyond those of the containers, divided equally among all containers, also those that run
 * only at the start; negative if they request more (remainingPodMemReqPerContainer).
 */
function podLevelShare({spec}: Pod): bigint {
  const podLevel = memoryBytes(spec.resources?.requests);
  if (podLevel === 0n) return 0n;
  const count = spec.containers.length + (spec.initContainers ?? []).length;
  return (podLevel - memoryBytes(aggregateContainerResources(spec, 'requests'))) / BigInt(count);
}

function smallestRequest(pod: Pod): bigint {
  return pod.spec.containers
    .map(({resources}) => memoryBytes(resources?.requests))
    .reduce((a, b) => (a < b ? a : b));
}
