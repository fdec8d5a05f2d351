import type {ContainerStats, NetworkInterfaceUsage, PodSandboxStats} from '../../cri/index.js';
import {truncateId} from '../../format/id.js';
import {humanSize} from '../../format/size.js';
import type {Column} from '../../format/table.js';
import {podNameOf, podNamespaceOf} from '../../operations/pod-labels.js';
import type {Usage} from '../../operations/usage.js';
import {byLargest, byText, type Orders} from '../list-flags.js';
import {percent} from './percent.js';

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

/** `--sort` of `stats`. */
export const CONTAINER_STATS_ORDERS = {
  cpu: byLargest(cpu),
  mem: byLargest(({memoryBytes}) => memoryBytes),
  disk: byLargest(disk),
  inodes: byLargest(inodes),
  swap: byLargest(swap),
  name: byText(containerName),
  pod: byText((usage) => `${namespaceOf(usage)}/${podOf(usage)}`),
} as const satisfies Orders<Usage<ContainerStats>>;

/** `--sort` of `statsp`. */
export const SANDBOX_STATS_ORDERS = {
  cpu: byLargest(cpu),
  mem: byLargest(({memoryBytes}) => memoryBytes),
  pids: byLargest(processes),
  name: byText(sandboxName),
  namespace: byText(sandboxNamespace),
} as const satisfies Orders<Usage<PodSandboxStats>>;

/** The columns of `stats`; crictl's, and more of them in the wide form. */
export function containerStatsColumns(wide: boolean): readonly Column<Usage<ContainerStats>>[] {
  return [
    {header: 'CONTAINER', value: ({stats}) => truncateId(stats.attributes?.id ?? '')},
    {header: 'NAME', value: containerName},
    {header: 'CPU %', value: cpuText},
    {header: 'MEM', value: ({memoryBytes}) => humanSize(memoryBytes)},
    {header: 'DISK', value: (usage) => humanSize(disk(usage))},
    {header: 'INODES', value: (usage) => String(inodes(usage))},
    {header: 'SWAP', value: (usage) => humanSize(swap(usage))},
    ...(wide ? WIDE_CONTAINER : []),
  ];
}

const WIDE_CONTAINER: readonly Column<Usage<ContainerStats>>[] = [
  {header: 'MEM LIMIT', value: (usage) => orDash(memoryLimit(usage), humanSize)},
  {
    header: 'MEM %',
    value: (usage) =>
      orDash(memoryLimit(usage), (limit) => percent((Number(usage.memoryBytes) / Number(limit)) * 100)),
  },
  {header: 'RSS', value: ({stats}) => humanSize(stats.memory?.rssBytes?.value ?? 0n)},
  {header: 'POD', value: podOf},
  {header: 'NAMESPACE', value: namespaceOf},
];

/** The columns of `statsp`; crictl's, and more of them in the wide form. */
export function sandboxStatsColumns(wide: boolean): readonly Column<Usage<PodSandboxStats>>[] {
  return [
    {header: 'POD', value: sandboxName},
    {header: 'POD ID', value: ({stats}) => truncateId(stats.attributes?.id ?? '')},
    {header: 'CPU %', value: cpuText},
    {header: 'MEM', value: ({memoryBytes}) => humanSize(memoryBytes)},
    ...(wide ? WIDE_SANDBOX : []),
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
  return typeof cpuPercent === 'number' ? percent(cpuPercent) : '-';
}

/** A runtime says what is left, and nothing or 0 where there is no limit. */
function memoryLimit({stats, memoryBytes}: Usage<ContainerStats>): bigint | undefined {
  const left = stats.memory?.availableBytes?.value ?? 0n;
  return left === 0n ? undefined : left + memoryBytes;
}

/** Over all of the pod's interfaces. */
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
