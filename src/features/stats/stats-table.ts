import type {ContainerStats, NetworkInterfaceUsage, PodSandboxStats} from '../../cri/index.js';
import {truncateId} from '../../format/truncate-id.js';
import {humanSize} from '../../format/human-size.js';
import type {Column} from '../../format/table.js';
import {podNameOf, podNamespaceOf} from '../../operations/pods/pod-labels.js';
import type {Usage} from '../../operations/stats/compute-usage.js';
import {compareByLargest, compareByText, type SortOrders} from '../lists/list-flags.js';
import {formatPercent} from '../../cli/output/views/format-percent.js';

const cpu = ({cpuPercent}: Usage<unknown>): number => (typeof cpuPercent === 'number' ? cpuPercent : -1);
const disk = ({stats}: Usage<ContainerStats>): bigint => stats.writableLayer?.usedBytes?.value ?? 0n;
const inodes = ({stats}: Usage<ContainerStats>): bigint => stats.writableLayer?.inodesUsed?.value ?? 0n;
const swap = ({stats}: Usage<ContainerStats>): bigint => stats.swap?.swapUsageBytes?.value ?? 0n;
const containerName = ({stats}: Usage<ContainerStats>): string => stats.attributes?.metadata?.name ?? '';
const podOf = ({stats}: Usage<ContainerStats>): string =>
  (stats.attributes && podNameOf(stats.attributes)) ?? 'unknown';
const namespaceOf = ({stats}: Usage<ContainerStats>): string =>
  (stats.attributes && podNamespaceOf(stats.attributes)) ?? 'unknown';
const sandboxName = ({stats}: Usage<PodSandboxStats>): string => stats.attributes?.metadata?.name ?? '';
const sandboxNamespace = ({stats}: Usage<PodSandboxStats>): string =>
  stats.attributes?.metadata?.namespace ?? '';
const processes = ({stats}: Usage<PodSandboxStats>): bigint =>
  stats.linux?.process?.processCount?.value ?? 0n;

/** Compare functions of `stats --sort`. */
export const CONTAINER_STATS_ORDERS = {
  cpu: compareByLargest(cpu),
  mem: compareByLargest(({memoryBytes}) => memoryBytes),
  disk: compareByLargest(disk),
  inodes: compareByLargest(inodes),
  swap: compareByLargest(swap),
  name: compareByText(containerName),
  pod: compareByText((usage) => `${namespaceOf(usage)}/${podOf(usage)}`),
} as const satisfies SortOrders<Usage<ContainerStats>>;

/** Compare functions of `statsp --sort`. */
export const SANDBOX_STATS_ORDERS = {
  cpu: compareByLargest(cpu),
  mem: compareByLargest(({memoryBytes}) => memoryBytes),
  pids: compareByLargest(processes),
  name: compareByText(sandboxName),
  namespace: compareByText(sandboxNamespace),
} as const satisfies SortOrders<Usage<PodSandboxStats>>;

/** Layout of a table of stats: crictl's, kcri's, or kcri's with all columns. */
export type StatsLayout = 'crictl' | 'table' | 'wide';

/** Returns the columns of `stats`: those of crictl, and those that kcri adds. */
export function containerStatsColumns(layout: StatsLayout): readonly Column<Usage<ContainerStats>>[] {
  return [
    {header: 'CONTAINER', value: ({stats}) => truncateId(stats.attributes?.id ?? '')},
    {header: 'NAME', value: containerName},
    {header: 'CPU %', value: cpuText},
    {header: 'MEM', value: ({memoryBytes}) => humanSize(memoryBytes)},
    {header: 'DISK', value: (usage) => humanSize(disk(usage))},
    {header: 'INODES', value: (usage) => String(inodes(usage))},
    {header: 'SWAP', value: (usage) => humanSize(swap(usage))},
    ...CONTAINER_COLUMNS[layout],
  ];
}

const POD_COLUMN: Column<Usage<ContainerStats>> = {header: 'POD', value: podOf};

const WIDE_CONTAINER: readonly Column<Usage<ContainerStats>>[] = [
  {header: 'MEM LIMIT', value: (usage) => orDash(memoryLimit(usage), humanSize)},
  {
    header: 'MEM %',
    value: (usage) =>
      orDash(memoryLimit(usage), (limit) => formatPercent((Number(usage.memoryBytes) / Number(limit)) * 100)),
  },
  {header: 'RSS', value: ({stats}) => humanSize(stats.memory?.rssBytes?.value ?? 0n)},
  POD_COLUMN,
  {header: 'NAMESPACE', value: namespaceOf},
];

/** Columns that follow those of crictl. */
const CONTAINER_COLUMNS: Readonly<Record<StatsLayout, readonly Column<Usage<ContainerStats>>[]>> = {
  crictl: [],
  table: [POD_COLUMN],
  wide: WIDE_CONTAINER,
};

/** Returns the columns of `statsp`: those of crictl, and more in the wide format. */
export function sandboxStatsColumns(layout: StatsLayout): readonly Column<Usage<PodSandboxStats>>[] {
  return [
    {header: 'POD', value: sandboxName},
    {header: 'POD ID', value: ({stats}) => truncateId(stats.attributes?.id ?? '')},
    {header: 'CPU %', value: cpuText},
    {header: 'MEM', value: ({memoryBytes}) => humanSize(memoryBytes)},
    ...(layout === 'wide' ? WIDE_SANDBOX : []),
  ];
}

const WIDE_SANDBOX: readonly Column<Usage<PodSandboxStats>>[] = [
  {header: 'PIDS', value: (usage) => String(processes(usage))},
  {header: 'NET RX', value: (usage) => traffic(usage, ({rxBytes}) => rxBytes?.value)},
  {header: 'NET TX', value: (usage) => traffic(usage, ({txBytes}) => txBytes?.value)},
  {header: 'CONTAINERS', value: ({stats}) => String(stats.linux?.containers.length ?? 0)},
  {header: 'NAMESPACE', value: sandboxNamespace},
];

function cpuText({cpuPercent}: Usage<unknown>): string {
  return typeof cpuPercent === 'number' ? formatPercent(cpuPercent) : '-';
}

/** Computes the limit from usage and available memory; runtimes report nothing or 0 without a limit. */
function memoryLimit({stats, memoryBytes}: Usage<ContainerStats>): bigint | undefined {
  const left = stats.memory?.availableBytes?.value ?? 0n;
  return left === 0n ? undefined : left + memoryBytes;
}

/** Returns the sum over all network interfaces of the pod. */
function traffic(
  {stats}: Usage<PodSandboxStats>,
  bytes: (usage: NetworkInterfaceUsage) => bigint | undefined,
): string {
  const {network} = stats.linux ?? {};
  if (network?.defaultInterface === undefined) return '-';
  const all = [network.defaultInterface, ...network.interfaces];
  return humanSize(all.reduce((sum, usage) => sum + (bytes(usage) ?? 0n), 0n));
}

function orDash(value: bigint | undefined, text: (value: bigint) => string): string {
  return value === undefined ? '-' : text(value);
}
