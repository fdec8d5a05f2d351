import {isRestartableInitContainer, longRunningContainersOf} from '../../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../../api/types/v1-pod.js';
import {isNodeCriticalPod} from '../critical-pod.js';
import {computePodQosClass} from '../../../../resources/qos-class.js';
import {memoryBytes} from '../../../../resources/resource-amounts.js';

const GUARANTEED = -997n;
const BEST_EFFORT = 1000n;
/** Bounds of Burstable pods, between Guaranteed and BestEffort. */
const BURSTABLE_MIN = 3n;
const BURSTABLE_MAX = 999n;

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
  return score > BURSTABLE_MAX ? BURSTABLE_MAX : score;
}

/** Returns the pod-level memory request beyond the containers' requests, divided equally among the containers. */
function podLevelShare(pod: Pod): bigint {
  const {resources} = pod.spec;
  if (resources?.requests?.['memory'] === undefined) return 0n;
  const sharers = longRunningContainersOf(pod);
  const requested = sharers.reduce((total, {resources: own}) => total + memoryBytes(own?.requests), 0n);
  const remaining = memoryBytes(resources.requests) - requested;
  return remaining > 0n ? remaining / BigInt(sharers.length) : 0n;
}

function smallestRequest(pod: Pod): bigint {
  return pod.spec.containers
    .map(({resources}) => memoryBytes(resources?.requests))
    .reduce((a, b) => (a < b ? a : b));
}
