import type {Pod} from '../../../../../api/types/v1-pod.js';
import {byKey} from '../../../../../base/compare.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {podRef} from '../../../../contract/pod-ref.js';
import {sortPodIps} from '../../../network/sort-pod-ips.js';
import {ContainerConfigError} from '../config-errors.js';
import {goQuote} from '../../../../../format/go-quote.js';

/** Objects that a fieldRef is resolved against. */
export interface FieldRefContext {
  readonly pod: Pod;
  readonly podIps: readonly string[];
  readonly node: Pick<NodeFacts, 'nodeName' | 'nodeIps' | 'hostIps'>;
}

const FIELDS: Readonly<Record<string, (context: FieldRefContext) => string>> = {
  'metadata.name': ({pod}) => podRef(pod).name,
  'metadata.namespace': ({pod}) => podRef(pod).namespace,
  'metadata.uid': ({pod}) => podRef(pod).uid,
  'metadata.labels': ({pod}) => formatMap(pod.metadata.labels),
  'metadata.annotations': ({pod}) => formatMap(pod.metadata.annotations),
  'spec.nodeName': ({pod}) => pod.spec.nodeName ?? '',
  'spec.serviceAccountName': ({pod}) => pod.spec.serviceAccountName ?? '',
  'status.hostIP': ({node}) => hostIpsOf(node)[0] ?? '',
  'status.hostIPs': ({node}) => hostIpsOf(node).join(','),
  'status.podIP': ({podIps, node}) => sortPodIps(podIps, node.nodeIps)[0] ?? '',
  'status.podIPs': ({podIps, node}) => sortPodIps(podIps, node.nodeIps).join(','),
};

/** Returns the host IPs. Throws ContainerConfigError if there is none (GetNodeHostIPs). */
function hostIpsOf({nodeName, hostIps}: FieldRefContext['node']): readonly string[] {
  if (hostIps.current.length === 0)
    throw new ContainerConfigError(`host IP unknown; known addresses: [{Hostname ${nodeName}}]`);
  return hostIps.current;
}

/**
 * Returns a field of the pod as text (podFieldSelectorRuntimeValue); empty for a missing label or annotation.
 *
 * @throws ContainerConfigError for an unsupported path or an unknown host IP.
 */
export function fieldRefValue(fieldPath: string, context: FieldRefContext): string {
  const [, map, key] = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(fieldPath) ?? [];
  if (key !== undefined) {
    const values = context.pod.metadata[map as 'labels' | 'annotations'] ?? {};
    return (Object.hasOwn(values, key) ? values[key] : undefined) ?? '';
  }
  const read = Object.hasOwn(FIELDS, fieldPath) ? FIELDS[fieldPath] : undefined;
  if (read === undefined) throw new ContainerConfigError(`unsupported fieldPath: ${fieldPath}`);
  return read(context);
}

/** Formats a map as `key="value"` lines, sorted by key (fieldpath.FormatMap). */
export function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .sort(byKey)
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .join('\n');
}
