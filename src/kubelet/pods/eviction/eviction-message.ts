import {
  canonicalizeQuantity,
  formatAmount,
  quantityValue,
  type QuantityFormat,
} from '../../../api/quantity.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {thresholdAmount} from '../../resources/eviction-thresholds.js';
import type {EvictionThreshold} from '../../contract/resources/eviction-settings.js';
import type {
  MeasuredContainer,
  MeasuredPod,
  SignalObservations,
} from '../../contract/resources/node-signals.js';
import {starvedResource, type StarvedResource} from './pressure-state.js';

/** Text of an eviction's status and event, and the annotations of the event. */
export interface EvictionMessage {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const NANOS_PER_UNIT = 1_000_000_000n;

/**
 * Returns why a pod is evicted: the starved resource, the first of the thresholds that is about it, and the containers that
 * use more than they request (evictionMessage).
 */
export function computeEvictionMessage(
  pod: Pod,
  usage: MeasuredPod | undefined,
  {
    resource,
    thresholds,
    observations,
  }: {
    readonly resource: StarvedResource;
    readonly thresholds: readonly EvictionThreshold[];
    readonly observations: SignalObservations;
  },
): EvictionMessage {
  const low = `The node was low on resource: ${resource}. ${describeThreshold(resource, thresholds, observations)}`;
  if (usage === undefined) return {message: low, annotations: {}};
  const total = describePod(pod, usage, resource);
  const offenders = usage.containers.flatMap((each) => findOffender(pod, each, resource) ?? []);
  const texts = offenders.map(
    ({name, used, request}) =>
      `Container ${name} was using ${used}, request is ${request}, has larger consumption of ${resource}. `,
  );
  return {
    message: [low, total?.message ?? '', ...texts].join(''),
    annotations: {
      ...total?.annotations,
      offending_containers: offenders.map(({name}) => name).join(','),
      offending_containers_usage: offenders.map(({used}) => used).join(','),
      starved_resource: resource,
    },
  };
}

function describeThreshold(
  resource: StarvedResource,
  thresholds: readonly EvictionThreshold[],
  observations: SignalObservations,
): string {
  for (const {signal, value} of thresholds) {
    const observed = observations.get(signal);
    if (starvedResource(signal) !== resource || observed === undefined) continue;
    const {available, capacity} = observed;
    const format = resource === 'inodes' || resource === 'pids' ? 'DecimalSI' : 'BinarySI';
    const quantity = formatAmount(thresholdAmount(value, capacity));
    return `Threshold quantity: ${quantity}, available: ${formatUnits(available, format)}. `;
  }
  return '';
}

/** Describes the memory of a pod with a request of its own. */
function describePod(
  {metadata: {name = ''}, spec}: Pod,
  {memoryBytes}: MeasuredPod,
  resource: StarvedResource,
): EvictionMessage | undefined {
  const request = spec.resources?.requests?.['memory'];
  if (resource !== 'memory' || request === undefined) return undefined;
  const used = formatUnits(memoryBytes);
  return {
    message: `Pod ${name} was using ${used}, request is ${canonicalizeQuantity(request)}, has larger consumption of memory. `,
    annotations: {offending_pod: name, offending_pod_usage: used},
  };
}

function findOffender(
  pod: Pod,
  usage: MeasuredContainer,
  resource: StarvedResource,
): {readonly name: string; readonly used: string; readonly request: string} | undefined {
  const {name} = usage;
  const used = usedBytes(usage, resource);
  // Ephemeral containers have no requests, so that they would always be to blame.
  const container = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(
    (each) => each.name === name,
  );
  const request = container?.resources?.requests?.[resource] ?? '0';
  if (container === undefined || used === undefined || used <= quantityValue(request)) return undefined;
  return {name, used: formatUnits(used), request: canonicalizeQuantity(request)};
}

function usedBytes(
  {memoryBytes, layer, logs}: MeasuredContainer,
  resource: StarvedResource,
): bigint | undefined {
  if (resource === 'memory') return memoryBytes;
  return resource === 'ephemeral-storage' && layer !== undefined
    ? layer.usedBytes + logs.usedBytes
    : undefined;
}

function formatUnits(units: bigint, format: QuantityFormat = 'BinarySI'): string {
  return formatAmount({nanos: units * NANOS_PER_UNIT, format});
}
