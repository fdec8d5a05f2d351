import type {
  ContainerStatusResponse,
  ImageStatusResponse,
  PodSandboxStatusResponse,
} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {byKey} from '../../base/compare.js';
import {humanSize} from '../../format/size.js';
import {formatGoTime} from '../../format/time.js';
import type {CrictlTextOptions} from '../inspect-command.js';
import {mapLines} from './lines.js';
import {metadataLines} from './sandboxes.js';

/** A container as crictl's `inspect -o table` shows it. */
export function containerStatusText(
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

/** A sandbox as crictl's `inspectp -o table` shows it. */
export function sandboxStatusText(
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

/** An image as crictl's `inspecti -o table` shows it. */
export function imageStatusText({image, info}: ImageStatusResponse, {verbose}: CrictlTextOptions): string {
  if (image === undefined) return infoLine(info, verbose).join('\n');
  return [
    `ID: ${image.id}`,
    ...image.repoTags.map((tag) => `Tag: ${tag}`),
    ...image.repoDigests.map((digest) => `Digest: ${digest}`),
    `Size: ${humanSize(image.size, 3)}`,
    ...infoLine(info, verbose),
  ].join('\n');
}

/** The runtime's own facts in the form in which Go prints a map. */
function infoLine(info: Readonly<Record<string, string>>, verbose: boolean): readonly string[] {
  const entries = Object.entries(info).sort(byKey);
  return verbose ? [`Info: map[${entries.map(([key, value]) => `${key}:${value}`).join(' ')}]`] : [];
}
