import {canonicalizeQuantity, quantityMilliValue} from '../../api/quantity.js';
import {addResources, isHugePageResource, isNativeResource, quantityOf} from '../../api/resource-list.js';
import type {Quantity, ResourceList} from '../../api/types/v1-meta.js';
import type {Node, NodeSystemInfo, Taint} from '../../api/types/v1-node.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {formatAgeSince} from '../../format/age.js';
import {formatRfc1123} from '../../format/rfc1123.js';
import type {KubeletReport} from '../../kubelet/index.js';
import {nodeRoles} from './node-table.js';
import {
  alignLines,
  annotationTexts,
  besideTitle,
  indentLines,
  labelTexts,
  NONE,
} from '../../cli/output/views/aligned-lines.js';
import {processLines} from './describe-kubelet.js';

/** A pod that has not ended, with its total resources. */
export interface NodePod {
  readonly pod: Pod;
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

/** Describes the node and its pods like `kubectl describe node` (describe.go describeNode). */
export function describeNode(node: Node, pods: readonly NodePod[], nowMs: number): string {
  const {metadata, spec, status = {}} = node;
  const {podCIDR, podCIDRs = [], providerID} = spec;
  return alignLines([
    `Name:\t${metadata.name ?? ''}`,
    `Roles:\t${nodeRoles(node).join(',') || NONE}`,
    ...besideTitle('Labels', labelTexts(metadata.labels)),
    ...besideTitle('Annotations', annotationTexts(metadata.annotations)),
    ...(metadata.creationTimestamp === undefined
      ? []
      : [`CreationTimestamp:\t${formatRfc1123(metadata.creationTimestamp)}`]),
    ...besideTitle('Taints', taintTexts(spec.taints)),
    `Unschedulable:\t${String(spec.unschedulable ?? false)}`,
    ...conditionLines(node),
    'Addresses:',
    ...(status.addresses ?? []).map(({type, address}) => `  ${type}:\t${address}`),
    ...resourceLines('Capacity', status.capacity),
    ...resourceLines('Allocatable', status.allocatable),
    ...systemLines(node),
    ...(podCIDR === undefined ? [] : [`PodCIDR:\t${podCIDR}`]),
    ...(podCIDRs.length === 0 ? [] : [`PodCIDRs:\t${podCIDRs.join(',')}`]),
    ...(providerID === undefined ? [] : [`ProviderID:\t${providerID}`]),
    ...podLines(node, pods, nowMs),
  ]);
}

/** Returns the section about the running kubelet, to follow the output of `kubectl describe`. */
export function nodeKubeletSection(report: KubeletReport): string {
  // Times are relative to the clock of the kubelet.
  const now = Date.parse(report.now);
  return alignLines([
    'Kubelet:',
    ...indentLines(1, [
      ...processLines(report, now),
      `Endpoint:\t${report.endpoint}`,
      ...besideTitle('Servers', Object.values(report.urls)),
      `Pods:\t${report.wantedPods}`,
    ]),
  ]);
}

function taintTexts(taints: readonly Taint[] = []): readonly string[] {
  return taints
    .toSorted((a, b) => (`${a.effect},${a.key}` < `${b.effect},${b.key}` ? -1 : 1))
    .map(({key, value = '', effect}) => `${key}${value === '' ? '' : `=${value}`}:${effect}`);
}

function conditionLines({status}: Node): readonly string[] {
  const conditions = status?.conditions ?? [];
  if (conditions.length === 0) return [];
  const rows = conditions.map(
    ({type, status: value, lastHeartbeatTime, lastTransitionTime, reason = '', message = ''}) =>
      [
        type,
        value,
        formatRfc1123(lastHeartbeatTime),
        formatRfc1123(lastTransitionTime),
        reason,
        message,
      ].join(' \t'),
  );
  return [
    'Conditions:',
    '  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage',
    '  ----\t------\t-----------------\t------------------\t------\t-------',
    ...indentLines(1, rows),
  ];
}

function resourceLines(title: string, list: ResourceList = {}): readonly string[] {
  const names = Object.keys(list).sort();
  if (names.length === 0) return [];
  return [`${title}:`, ...names.map((name) => `  ${name}:\t${canonicalizeQuantity(quantityIn(list, name))}`)];
}

/** Titles of the system information, in the order of kubectl. */
const SYSTEM_INFO = [
  ['Machine ID', 'machineID'],
  ['System UUID', 'systemUUID'],
  ['Boot ID', 'bootID'],
  ['Kernel Version', 'kernelVersion'],
  ['OS Image', 'osImage'],
  ['Operating System', 'operatingSystem'],
  ['Architecture', 'architecture'],
  ['Container Runtime Version', 'containerRuntimeVersion'],
  ['Kubelet Version', 'kubeletVersion'],
] as const satisfies readonly (readonly [string, keyof NodeSystemInfo])[];

function systemLines({status}: Node): readonly string[] {
  const lines = SYSTEM_INFO.map(([title, field]) => `  ${title}:\t${status?.nodeInfo?.[field] ?? ''}`);
  return ['System Info:', ...lines];
}

function podLines({status}: Node, pods: readonly NodePod[], nowMs: number): readonly string[] {
  const allocatable = status?.allocatable ?? status?.capacity ?? {};
  const share = (list: ResourceList, name: string): string => formatShare(list, name, allocatable);
  const rows = pods.map(({pod: {metadata}, requests, limits}) =>
    [
      metadata.namespace ?? '',
      metadata.name ?? '',
      '',
      ...['cpu', 'memory'].flatMap((name) => [share(requests, name), share(limits, name)]),
      metadata.creationTimestamp === undefined
        ? '<unknown>'
        : formatAgeSince(metadata.creationTimestamp, nowMs),
    ].join('\t'),
  );
  const requests = pods.reduce((sum, pod) => addResources(sum, pod.requests), {});
  const limits = pods.reduce((sum, pod) => addResources(sum, pod.limits), {});
  const names = Object.keys(allocatable).sort();
  const shared = ['cpu', 'memory', 'ephemeral-storage', ...names.filter(isHugePageResource)];
  const extended = names.filter((name) => !isNativeResource(name));
  return [
    `Non-terminated Pods:\t(${pods.length} in total)`,
    '  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge',
    '  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---',
    ...indentLines(1, rows),
    'Allocated resources:',
    '  (Total limits may be over 100 percent, i.e., overcommitted.)',
    '  Resource\tRequests\tLimits',
    '  --------\t--------\t------',
    ...shared.map((name) => `  ${name}\t${share(requests, name)}\t${share(limits, name)}`),
    ...extended.map((name) => `  ${name}\t${quantityIn(requests, name)}\t${quantityIn(limits, name)}`),
  ];
}

function quantityIn(list: ResourceList, name: string): Quantity {
  return quantityOf(list, name) ?? '0';
}

/** Returns an amount and its share of the node's: `100m (5%)`. */
function formatShare(list: ResourceList, name: string, allocatable: ResourceList): string {
  const amount = quantityIn(list, name);
  const whole = Number(quantityMilliValue(quantityIn(allocatable, name)));
  const percent = whole === 0 ? 0 : Math.trunc((Number(quantityMilliValue(amount)) / whole) * 100);
  return `${canonicalizeQuantity(amount)} (${percent}%)`;
}
