import type {
  ContainerStatusResponse,
  ImageStatusResponse,
  PodSandboxStatusResponse,
} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {byKey} from '../../base/compare.js';
import {humanSize} from '../../format/human-size.js';
import {formatGoTime} from '../../format/time.js';
import {mapLines} from '../../cli/output/views/map-lines.js';
import {metadataLines} from '../lists/sandbox-table.js';

/** Options of crictl's tables. */
export interface CrictlTextOptions {
  readonly nowMs: number;
  /** True if runtime-specific info is shown. */
  readonly verbose: boolean;
}

/** Formats a container as `crictl inspect -o table` does. */
export function formatCrictlContainer(
  {status, info}: ContainerStatusResponse,
  {nowMs, verbose}: CrictlTextOptions,
): string {
  if (status === undefined) return infoLine(info, verbose).join('\n');
  const {metadata, state} = status;
  const exited = state === 'CONTAINER_EXITED';
  const finished = exited && status.finishedAt > 0n;
  return [
    `ID: ${status.id}`,
    ...(metadata === undefined || metadata.name === '' ? [] : [`Name: ${metadata.name}`]),
    ...(metadata === undefined || metadata.attempt === 0 ? [] : [`Attempt: ${metadata.attempt}`]),
    `State: ${state}`,
    `Created: ${humanAgo(status.createdAt, nowMs)}`,
    ...(state === 'CONTAINER_CREATED' ? [] : [`Started: ${humanAgo(status.startedAt, nowMs)}`]),
    ...(finished ? [`Finished: ${humanAgo(status.finishedAt, nowMs)}`] : []),
    ...(exited ? [`Exit Code: ${status.exitCode}`] : []),
    ...mapLines('Labels:', status.labels),
    ...mapLines('Annotations:', status.annotations),
    ...infoLine(info, verbose),
  ].join('\n');
}

/** Formats a sandbox as `crictl inspectp -o table` does. */
export function formatCrictlSandbox(
  {status, info}: PodSandboxStatusResponse,
  {verbose}: CrictlTextOptions,
): string {
  if (status === undefined) return infoLine(info, verbose).join('\n');
  const {metadata, network} = status;
  return [
    `ID: ${status.id}`,
    ...metadataLines(metadata),
    ...(metadata === undefined ? [] : [`Attempt: ${metadata.attempt}`]),
    `Status: ${status.state}`,
    `Created: ${formatGoTime(status.createdAt)}`,
    ...(network === undefined ? [] : [`IP Addresses: ${network.ip}`]),
    ...(network?.additionalIps ?? []).map(({ip}) => `Additional IP: ${ip}`),
    ...mapLines('Labels:', status.labels),
    ...mapLines('Annotations:', status.annotations),
    ...infoLine(info, verbose),
  ].join('\n');
}

/** Formats an image as `crictl inspecti -o table` does. */
export function formatCrictlImage({image, info}: ImageStatusResponse, {verbose}: CrictlTextOptions): string {
  if (image === undefined) return infoLine(info, verbose).join('\n');
  return [
    `ID: ${image.id}`,
    ...image.repoTags.map((tag) => `Tag: ${tag}`),
    ...image.repoDigests.map((digest) => `Digest: ${digest}`),
    `Size: ${humanSize(image.size, 3)}`,
    ...infoLine(info, verbose),
  ].join('\n');
}

/** Formats runtime-specific info as Go prints a map. */
function infoLine(info: Readonly<Record<string, string>>, verbose: boolean): readonly string[] {
  const entries = Object.entries(info).sort(byKey);
  return verbose ? [`Info: map[${entries.map(([key, value]) => `${key}:${value}`).join(' ')}]`] : [];
}
