import {groupBy} from '../../base/by-name.js';
import {alignLines, indentLines} from '../../cli/output/views/aligned-lines.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {formatAgeSince} from '../../format/age.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {formatRfc1123} from '../../format/rfc1123.js';
import type {NodeVolume, VolumeEvent, VolumeHistory, VolumePod} from '../../kubelet/index.js';
import type {RecordedPodEvent} from '../events/event-table.js';
import type {ShownPod} from '../pods/listed-pod.js';
import type {PodReader} from '../pods/pod-reader.js';
import {durationText} from '../timeline/summary.js';
import {readPodVolumes, readVolumePods} from '../volumes/list-volumes.js';

/** Failures to mount a volume. */
export interface MountFailures {
  readonly count: number;
  readonly lastFailedAt: string;
  readonly lastError: string;
}

/**
 * Returns the sections with the volumes of pods and their mount histories by UID: of this machine with their states and paths, of
 * another or a saved node as far as the pods and their events, which are given, tell.
 */
export async function readMountSections(
  services: RuntimeContext,
  reader: PodReader,
  observed: readonly ShownPod[],
  events: readonly RecordedPodEvent[],
): Promise<ReadonlyMap<string, string>> {
  const {computeVolumes, volumeFailures} = await import('../../kubelet/index.js');
  const {settings, context} = services;
  const pods = await readVolumePods(services, reader, observed, events);
  const isElsewhere = (await settings.remoteEndpoint()) !== undefined || (await settings.isSaved());
  const volumes = isElsewhere
    ? computeVolumes({facts: [], pods, knowsAllPods: () => false})
    : await readPodVolumes(services, reader, pods);
  const nowMs = context.clock.now();
  const byPod = groupBy(volumes, ({pod}) => pod?.uid ?? '');
  const sectionOf = (pod: VolumePod): string => {
    const described = (byPod.get(pod.uid) ?? []).map((volume) => {
      const history = pod.histories.find(({name}) => name === volume.name);
      const events = volumeFailures(pod.events, namesOf(volume));
      return {volume, history, failures: failuresOf(history, events)};
    });
    return mountSection(described, nowMs);
  };
  return new Map(pods.map((pod) => [pod.uid, sectionOf(pod)]));
}

function namesOf({name, persistentVolume}: NodeVolume): ReadonlySet<string> {
  return new Set([name, ...(persistentVolume === undefined ? [] : [persistentVolume])]);
}

/** Returns the failures of a history, or of a pod that has none those of its events. */
function failuresOf(
  history: VolumeHistory | undefined,
  events: readonly VolumeEvent[],
): MountFailures | undefined {
  const {totalFailures = 0, lastFailedAt, lastError} = history ?? {};
  if (lastFailedAt !== undefined && lastError !== undefined)
    return {count: totalFailures, lastFailedAt, lastError};
  const [last] = events.toSorted((a, b) => Date.parse(b.lastTimestamp) - Date.parse(a.lastTimestamp));
  if (last === undefined) return undefined;
  const count = events.reduce((sum, event) => sum + event.count, 0);
  return {count, lastFailedAt: last.lastTimestamp, lastError: last.message.trim()};
}

/** A volume with what happened to it. */
export interface DescribedVolume {
  readonly volume: NodeVolume;
  readonly history: VolumeHistory | undefined;
  readonly failures: MountFailures | undefined;
}

/** Returns the section of a pod's volumes, to follow the output of `kubectl describe`; empty without volumes. */
export function mountSection(volumes: readonly DescribedVolume[], nowMs: number): string {
  if (volumes.length === 0) return '';
  return alignLines([
    'Mounts of Volumes:',
    ...volumes.flatMap((described) => [
      `  ${escapeToLine(described.volume.name)}:`,
      ...indentLines(2, volumeLines(described, nowMs)),
    ]),
  ]);
}

function volumeLines({volume, history, failures}: DescribedVolume, nowMs: number): readonly string[] {
  const {kind, driver, state, message} = volume;
  const optional: Readonly<Record<string, string | undefined>> = {
    'Persistent Volume': volume.persistentVolume,
    Message: message === failures?.lastError ? undefined : message,
    Path: volume.path ?? (history?.path === '' ? undefined : history?.path),
    'Staging Path': volume.stagingPath,
    Staged: timeText(history?.stagedAt, nowMs),
    Mounted: mountedText(history, nowMs),
    'Set Up Again': timeText(history?.remountedAt, nowMs),
    Unmounted: timeText(history?.unmountedAt, nowMs),
    ...failureTexts(failures, nowMs),
  };
  return [
    `Kind:\t${escapeToLine(kind)}${driver === undefined ? '' : ` (${escapeToLine(driver)})`}`,
    `State:\t${state}`,
    ...Object.entries(optional).flatMap(([title, text]) =>
      text === undefined ? [] : [`${title}:\t${escapeToLine(text)}`],
    ),
  ];
}

function mountedText(history: VolumeHistory | undefined, nowMs: number): string | undefined {
  const text = timeText(history?.mountedAt, nowMs);
  if (text === undefined || history?.mountMs === undefined) return text;
  return `${text}, in ${durationText(history.mountMs)}`;
}

function failureTexts(failures: MountFailures | undefined, nowMs: number): Readonly<Record<string, string>> {
  if (failures === undefined) return {};
  const {count, lastFailedAt, lastError} = failures;
  return {
    Failures: `${count}, last ${formatAgeSince(lastFailedAt, nowMs)} ago`,
    'Last Error': lastError.trim(),
  };
}

function timeText(time: string | undefined, nowMs: number): string | undefined {
  return time === undefined ? undefined : `${formatRfc1123(time)} (${formatAgeSince(time, nowMs)} ago)`;
}
