import type {Pod} from '../../api/types/v1-pod.js';
import {ConfigError} from '../../base/errors.js';
import {computePodQosClass} from './qos-class.js';
import {memoryBytes, podRequests} from './resource-amounts.js';

/**
 * Parses qosReserved, such as `{memory: 50%}`; undefined without memory (ParseQOSReserved).
 *
 * @throws ConfigError with the kubelet's message.
 */
export function parseQosReserved(reserved: Readonly<Record<string, string>>): bigint | undefined {
  const other = Object.keys(reserved).find((resource) => resource !== 'memory');
  if (other !== undefined) throw new ConfigError(`cannot reserve ${JSON.stringify(other)} resource`);
  const {memory} = reserved;
  return memory === undefined ? undefined : parsePercentage(memory);
}

function parsePercentage(text: string): bigint {
  const failure = (reason: string): ConfigError =>
    new ConfigError(`failed to parse percentage ${JSON.stringify(text)} for "memory" resource: ${reason}`);
  if (!text.endsWith('%')) throw failure(`percentage expected, got '${text}'`);
  const digits = text.replace(/%+$/, '');
  if (!/^[+-]?\d+$/.test(digits)) throw failure(`invalid number in percentage '${text}'`);
  const percent = BigInt(digits.replace('+', ''));
  if (percent < 0n || percent > 100n) throw failure('percentage must be between 0 and 100');
  return percent;
}

/** Memory that the active pods of a QoS class request, in bytes. */
export interface QosMemoryRequests {
  readonly guaranteed: bigint;
  readonly burstable: bigint;
}

/** Returns what the pods of the QoS classes request (getQoSMemoryRequests). */
export function qosMemoryRequests(pods: readonly Pod[]): QosMemoryRequests {
  const requestsOf = (qosClass: string): bigint =>
    pods
      .filter((pod) => computePodQosClass(pod) === qosClass)
      .reduce((sum, pod) => sum + memoryBytes(podRequests(pod)), 0n);
  return {guaranteed: requestsOf('Guaranteed'), burstable: requestsOf('Burstable')};
}

/** Most memory in bytes that the pods of each lower QoS class can use. */
export interface QosMemoryLimits {
  readonly burstable: bigint;
  readonly besteffort: bigint;
}

/**
 * Returns the memory that is left for the lower QoS classes, when a percentage of what the pods of the higher ones request is
 * reserved (setMemoryReserve). `allocatableBytes` is what the node has for pods.
 */
export function qosMemoryLimits(
  percent: bigint,
  allocatableBytes: bigint,
  requests: QosMemoryRequests,
): QosMemoryLimits {
  const burstable = allocatableBytes - (requests.guaranteed * percent) / 100n;
  return {burstable, besteffort: burstable - (requests.burstable * percent) / 100n};
}
