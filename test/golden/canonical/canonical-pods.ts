import {encodePodStatus} from '../../../src/api/json/encode-pod.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import type {PodEvent} from '../../../src/kubelet/index.js';
import type {Json, JsonObject} from '../../../src/recording/canonical/canonical-json.js';
import type {CanonicalLabels} from '../../../src/recording/canonical/canonical-labels.js';

/** A line of a canon.events.jsonl. */
export type CanonicalEvent = Readonly<Record<'reason' | 'message' | 'type' | 'object' | 'fieldPath', string>>;

/** A pod as in the kubelet's /pods, with spec and status. */
export interface PodWithStatus {
  readonly pod: Pod;
  readonly status: PodStatus;
}

/** Returns the pods in the format of the recordings, by name. */
export function canonicalPods(
  pods: readonly PodWithStatus[],
  labels: CanonicalLabels,
): readonly JsonObject[] {
  return pods.map(
    ({pod: {metadata, spec}, status}) =>
      labels.replaceInValue(plain({metadata, spec, status: encodePodStatus(status)})) as JsonObject,
  );
}

/** Returns events without repetitions, with those of concurrently killed containers sorted. */
export function canonicalEvents(
  events: readonly PodEvent[],
  labels: CanonicalLabels,
): readonly CanonicalEvent[] {
  const lines = events.map(({type, reason, message, fieldPath = '', pod: {metadata}}) => ({
    type,
    reason,
    // The recorded events come from the kubelet's log, which wraps lines there.
    message: message.includes('\n') ? '<' : message,
    fieldPath,
    object: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`,
    kind: 'Pod',
    apiVersion: 'v1',
  }));
  const distinct = new Map(
    lines.map((line) => {
      const canonical = sorted(labels.replaceInValue(line) as unknown as CanonicalEvent);
      return [JSON.stringify(canonical), canonical] as const;
    }),
  );
  return withSortedKills([...distinct.values()]);
}

/** Sorts consecutive Killing events: containers are killed concurrently. */
function withSortedKills(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
  const result: CanonicalEvent[] = [];
  let kills: CanonicalEvent[] = [];
  const flush = (): void => {
    result.push(...kills.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)));
    kills = [];
  };
  for (const event of events) {
    if (event.reason === 'Killing') kills.push(event);
    else {
      flush();
      result.push(event);
    }
  }
  flush();
  return result;
}

/** Converts to plain JSON. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function sorted<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) as T;
}
