import {isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/v1.js';
import {isStaticPod} from '../config/static-pod.js';
import {podQosClass} from './qos.js';
import {memoryBytes} from './resource-amounts.js';

const GUARANTEED = -997n;
const BEST_EFFORT = 1000n;
/** Just above a Guaranteed pod that uses all memory; just below BestEffort. */
const BURSTABLE_MIN = 3n;
const BURSTABLE_MAX = 999n;
/** From here on a priority is the system's own (scheduling.SystemCriticalPriority). */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/**
 * The oom_score_adj of a container's processes (qos GetContainerOOMScoreAdjust): the more of the node's memory a
 * Burstable container asks for, the later it is killed. A sidecar outlives the containers that it serves.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacity: bigint): bigint {
  const qos = podQosClass(pod);
  if (qos === 'Guaranteed' || isNodeCritical(pod)) return GUARANTEED;
  if (qos === 'BestEffort') return BEST_EFFORT;

  const share = podLevelShare(pod);
  const requests = [memoryBytes(container.resources?.requests)];
  if (isRestartableInit(container)) requests.push(smallestRequest(pod));
  const scores = requests.map((request) => 1000n - (1000n * (request + share)) / memoryCapacity);
  return clamp(scores.reduce((a, b) => (a < b ? a : b)));
}

function clamp(score: bigint): bigint {
  if (score < BURSTABLE_MIN) return BURSTABLE_MIN;
  return score > BURSTABLE_MAX ? BURSTABLE_MAX : score;
}

/** What the Pod asks for beyond its containers' requests, shared equally among them. */
function podLevelShare(pod: Pod): bigint {
  const {containers, initContainers = [], resources} = pod.spec;
  if (resources?.requests?.['memory'] === undefined) return 0n;
  const sharers = [...containers, ...initContainers.filter(isRestartableInit)];
  const asked = sharers.reduce((total, {resources: own}) => total + memoryBytes(own?.requests), 0n);
  const remaining = memoryBytes(resources.requests) - asked;
  return remaining > 0n ? remaining / BigInt(sharers.length) : 0n;
}

function smallestRequest(pod: Pod): bigint {
  return pod.spec.containers
    .map(({resources}) => memoryBytes(resources?.requests))
    .reduce((a, b) => (a < b ? a : b));
}

/** types.IsNodeCriticalPod: a static or system-critical pod of the class system-node-critical. */
function isNodeCritical(pod: Pod): boolean {
  return isCriticalPod(pod) && pod.spec.priorityClassName === 'system-node-critical';
}

/** types.IsCriticalPod: a static or system-critical pod, which is never evicted. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}
