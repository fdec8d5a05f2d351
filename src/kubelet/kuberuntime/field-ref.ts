import type {Pod} from '../../api/v1.js';
import {byKey} from '../../base/compare.js';
import type {NodeFacts} from '../container/node.js';
import {podRef} from '../container/pod-ref.js';
import {sortPodIps} from '../network/pod-ips.js';
import {ContainerConfigError} from './config-errors.js';
import {goQuote} from '../../format/go-quote.js';

/** What a fieldRef is looked up in. */
export interface FieldRefContext {
  readonly pod: Pod;
  readonly podIps: readonly string[];
  readonly node: Pick<NodeFacts, 'nodeIps'>;
}

const FIELDS: Readonly<Record<string, (context: FieldRefContext) => string>> = {
  'metadata.name': ({pod}) => podRef(pod).name,
  'metadata.namespace': ({pod}) => podRef(pod).namespace,
  'metadata.uid': ({pod}) => podRef(pod).uid,
  'metadata.labels': ({pod}) => formatMap(pod.metadata.labels),
  'metadata.annotations': ({pod}) => formatMap(pod.metadata.annotations),
  'spec.nodeName': ({pod}) => pod.spec.nodeName ?? '',
  'spec.serviceAccountName': ({pod}) => pod.spec.serviceAccountName ?? '',
  'status.hostIP': ({node}) => node.nodeIps[0] ?? '',
  'status.hostIPs': ({node}) => node.nodeIps.join(','),
  'status.podIP': ({podIps, node}) => sortPodIps(podIps, node.nodeIps)[0] ?? '',
  'status.podIPs': ({podIps, node}) => sortPodIps(podIps, node.nodeIps).join(','),
};

/**
 * A field of the Pod as a text (podFieldSelectorRuntimeValue); a label or annotation that isn't there is empty.
 *
 * @throws ContainerConfigError for a path that has no value on a node.
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

/** One `key="value"` a line, by key (fieldpath.FormatMap). */
export function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .sort(byKey)
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .join('\n');
}
