import type {
  ContainerStatus,
  ContainerStatusResponse,
  ImageStatusResponse,
  Mount,
  PodSandboxStatus,
  PodSandboxStatusResponse,
} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {byKey} from '../../base/compare.js';
import {humanSize} from '../../format/human-size.js';
import {formatRfc3339Nano} from '../../format/time.js';
import {podNameOf, podNamespaceOf} from '../../operations/pods/pod-labels.js';
import {
  portsFromAnnotations,
  restartCountFromAnnotations,
  parseContainerInfo,
  parseImageInfo,
  parseSandboxInfo,
} from '../../operations/inspect/verbose-info.js';
import {portsText} from '../../cli/output/views/table-cells.js';
import {CONTAINER_STATES} from '../lists/container-table.js';
import {formatKeyValueList} from '../../cli/output/views/key-value-list.js';
import {SANDBOX_STATES} from '../lists/sandbox-table.js';

/** Formats a container for `inspect -o table`. */
export function formatContainerDetails({status, info}: ContainerStatusResponse, nowMs: number): string {
  if (status === undefined) return '';
  const process = parseContainerInfo(info);
  return formatKeyValueList([
    ['Name', status.metadata?.name],
    ['ID', status.id],
    ['Pod', podOf(status) ?? process.pod],
    ['Pod ID', process.sandboxId],
    ['State', stateOf(status)],
    ['Exit code', status.state === 'CONTAINER_EXITED' ? status.exitCode : undefined],
    ['Reason', status.reason],
    ['Message', status.message],
    ['Attempt', status.metadata?.attempt],
    ['Restarts', restartCountFromAnnotations(status.annotations)],
    ['Image', status.image?.image],
    ['Image ID', status.imageId === '' ? status.imageRef : status.imageId],
    ['Command', commandText(process.command)],
    ['Working directory', process.workingDir],
    ['User', userOf(status)],
    ['PID', process.pid],
    ['Created', timeText(status.createdAt, nowMs)],
    ['Started', timeText(status.startedAt, nowMs)],
    ['Finished', timeText(status.finishedAt, nowMs)],
    ['Log', status.logPath],
    ['Cgroup', process.cgroup],
    ['Limits', limitsOf(status)],
    ['Ports', portsText(portsFromAnnotations(status.annotations) ?? [])],
    ['Mounts', status.mounts.map(mountText)],
    ['Environment', process.env],
    ['Labels', mapText(status.labels)],
    ['Annotations', mapText(status.annotations)],
  ]);
}

/** Formats a sandbox for `inspectp -o table`. */
export function formatSandboxDetails({status, info}: PodSandboxStatusResponse, nowMs: number): string {
  if (status === undefined) return '';
  const {metadata} = status;
  const facts = parseSandboxInfo(info);
  return formatKeyValueList([
    ['Name', metadata?.name],
    ['Namespace', metadata?.namespace],
    ['UID', metadata?.uid],
    ['ID', status.id],
    ['State', SANDBOX_STATES[status.state]],
    ['Attempt', metadata?.attempt],
    ['Runtime', status.runtimeHandler === '' ? '(default)' : status.runtimeHandler],
    ['IP', addressesOf(status)],
    ['Network', isOnHost(status) ? "the host's" : undefined],
    ['Hostname', facts.hostname],
    ['PID', facts.pid],
    ['Created', timeText(status.createdAt, nowMs)],
    ['Logs', facts.logDirectory],
    ['Cgroup', facts.cgroup],
    ['Ports', portsText(facts.ports)],
    ['Labels', mapText(status.labels)],
    ['Annotations', mapText(status.annotations)],
  ]);
}

/** Formats an image for `inspecti -o table`. */
export function formatImageDetails({image, info}: ImageStatusResponse, nowMs: number): string {
  if (image === undefined) return '';
  const facts = parseImageInfo(info);
  const {createdAtMs} = facts;
  return formatKeyValueList([
    ['ID', image.id],
    ['Tags', image.repoTags],
    ['Digests', image.repoDigests],
    ['Size', humanSize(image.size, 3)],
    ['Created', createdAtMs === undefined ? undefined : timeText(BigInt(createdAtMs) * 1_000_000n, nowMs)],
    ['Platform', facts.platform],
    ['User', image.uid?.value.toString() ?? image.username],
    ['Entrypoint', commandText(facts.entrypoint)],
    ['Command', commandText(facts.command)],
    ['Working directory', facts.workingDir],
    ['Ports', facts.ports.join(', ')],
    ['Pinned', image.pinned ? 'yes' : undefined],
    ['Environment', facts.env],
    ['Labels', mapText(facts.labels)],
  ]);
}

function podOf(status: ContainerStatus): string | undefined {
  const [name, namespace] = [podNameOf(status), podNamespaceOf(status)];
  return name === undefined ? undefined : `${namespace ?? 'unknown'}/${name}`;
}

function addressesOf({network}: PodSandboxStatus): string {
  const addresses = [network?.ip ?? '', ...(network?.additionalIps ?? []).map(({ip}) => ip)];
  return addresses.filter((address) => address !== '').join(', ');
}

function isOnHost({linux}: PodSandboxStatus): boolean {
  return linux?.namespaces?.options?.network === 'NODE';
}

function stateOf({state, exitCode}: ContainerStatus): string {
  return state === 'CONTAINER_EXITED' && exitCode !== 0
    ? `${CONTAINER_STATES[state]} (failed)`
    : CONTAINER_STATES[state];
}

function userOf({user}: ContainerStatus): string | undefined {
  return user?.linux === undefined ? undefined : `${user.linux.uid}:${user.linux.gid}`;
}

function timeText(nanos: bigint, nowMs: number): string | undefined {
  if (nanos <= 0n) return undefined;
  const seconds = formatRfc3339Nano(nanos - (nanos % 1_000_000_000n));
  return `${seconds} (${humanAgo(nanos, nowMs)})`;
}

/** Formats CPU and memory limits. */
function limitsOf({resources}: ContainerStatus): string {
  const {cpuQuota = 0n, cpuPeriod = 0n, memoryLimitInBytes = 0n} = resources?.linux ?? {};
  const cpus = cpuQuota > 0n && cpuPeriod > 0n ? Number((cpuQuota * 100n) / cpuPeriod) / 100 : 0;
  return [
    cpus > 0 ? `${cpus} CPU` : '',
    memoryLimitInBytes > 0n ? `${humanSize(memoryLimitInBytes)} of memory` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

function mountText({containerPath, hostPath, readonly, image}: Mount): string {
  const source = hostPath === '' ? `image ${image?.image ?? ''}` : hostPath;
  return `${containerPath} <- ${source}${readonly ? ' (read-only)' : ''}`;
}

/** Formats a command line with shell quoting. */
function commandText(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
}

function mapText(map: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(map)
    .sort(byKey)
    .map(([key, value]) => `${key}=${value}`);
}
