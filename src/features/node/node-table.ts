import type {Node, NodeAddress} from '../../api/types/v1-node.js';
import {counted} from '../../base/counted.js';
import type {NodeCpus} from '../../kubelet/index.js';
import {formatAgeSince} from '../../format/age.js';
import type {Column} from '../../format/table.js';
import {NONE} from '../../cli/output/views/aligned-lines.js';

/** Returns the columns of `get node`, those of kubectl (printNode). */
export function nodeColumns({
  wide,
  nowMs,
}: {
  readonly wide: boolean;
  readonly nowMs: number;
}): readonly Column<Node>[] {
  return [
    {header: 'NAME', value: ({metadata}) => metadata.name ?? ''},
    {header: 'STATUS', value: statusText},
    {header: 'ROLES', value: (node) => nodeRoles(node).join(',') || NONE},
    {header: 'AGE', value: ({metadata}) => ageOf(metadata.creationTimestamp, nowMs)},
    {header: 'VERSION', value: ({status}) => status?.nodeInfo?.kubeletVersion ?? ''},
    ...(wide ? WIDE : []),
  ];
}

const WIDE: readonly Column<Node>[] = [
  {header: 'INTERNAL-IP', value: (node) => addressOf(node, 'InternalIP')},
  {header: 'EXTERNAL-IP', value: (node) => addressOf(node, 'ExternalIP')},
  {header: 'OS-IMAGE', value: ({status}) => status?.nodeInfo?.osImage ?? '<unknown>'},
  {header: 'KERNEL-VERSION', value: kernelText},
  {
    header: 'CONTAINER-RUNTIME',
    value: ({status}) => status?.nodeInfo?.containerRuntimeVersion ?? '<unknown>',
  },
];

function ageOf(creationTimestamp: string | undefined, nowMs: number): string {
  return creationTimestamp === undefined ? '<unknown>' : formatAgeSince(creationTimestamp, nowMs);
}

function addressOf({status}: Node, type: NodeAddress['type']): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? NONE;
}

function kernelText({status}: Node): string {
  const {kernelVersion = '<unknown>', architecture = ''} = status?.nodeInfo ?? {};
  return architecture === '' ? kernelVersion : `${kernelVersion} (${architecture})`;
}

/** Returns `Ready`, `NotReady` or `Unknown`, and whether the node can be scheduled to. */
function statusText({spec, status}: Node): string {
  const ready = status?.conditions?.find(({type}) => type === 'Ready');
  const text = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec.unschedulable === true ? `${text},SchedulingDisabled` : text;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

/** Returns the roles that the labels of the node name, sorted (findNodeRoles). */
export function nodeRoles({metadata}: Node): readonly string[] {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return key.slice(ROLE_PREFIX.length);
    return key === ROLE_LABEL && value !== '' ? value : [];
  });
  return [...new Set(roles)].filter((role) => role !== '').sort();
}

/** Returns the columns that `get node -o wide` has in addition to those of kubectl; unknown without `cpus`. */
export function cpuColumns(cpus: NodeCpus | undefined): readonly Column<Node>[] {
  return [
    {header: 'CPU-TOPOLOGY', value: () => (cpus === undefined ? '<unknown>' : topologyText(cpus.topology))},
    {header: 'EXCLUSIVE-CPUS', value: () => (cpus === undefined ? '<unknown>' : cpus.exclusive || NONE)},
  ];
}

/** Describes CPUs in a line: `2 sockets, 2 NUMA nodes, 8 cores, 16 CPUs`. */
function topologyText({socketCount, numaNodeCount, coreCount, cpuCount}: NodeCpus['topology']): string {
  return [
    counted(socketCount, 'socket'),
    counted(numaNodeCount, 'NUMA node'),
    counted(coreCount, 'core'),
    counted(cpuCount, 'CPU'),
  ].join(', ');
}
