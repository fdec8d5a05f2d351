import {createHash} from 'node:crypto';
import type {JsonObject} from '../../format/json.js';
import {formatAgeSince} from '../../format/age.js';
import type {Column} from '../../format/table.js';
import {escapeToLine} from '../../format/escape-controls.js';
import type {PodRecord, RecordedEvent} from '../../kubelet/index.js';
import type {EventSubject} from '../../operations/events/container-events.js';
import {eventContainer} from './event-container.js';

/** Pod of an event. */
export type EventPod = Pick<PodRecord, 'uid' | 'namespace' | 'name' | 'pod'>;

/** Event with its pod. */
export interface RecordedPodEvent {
  readonly record: EventPod;
  readonly event: RecordedEvent;
  /** Component that reported the event. Default `kubelet`. */
  readonly component?: string;
}

/** Options of the columns. */
export interface EventColumnOptions {
  readonly wide: boolean;
  readonly namespace: boolean;
  readonly nowMs: () => number;
}

/** Returns the columns of `get events`: those of kubectl, and the container, which kubectl's wide table has as SUBOBJECT. */
export function eventColumns({
  wide,
  namespace,
  nowMs,
}: EventColumnOptions): readonly Column<RecordedPodEvent>[] {
  const age = (time: string): string => formatAgeSince(time, nowMs());
  const inWide = (columns: readonly Column<RecordedPodEvent>[]): readonly Column<RecordedPodEvent>[] =>
    wide ? columns : [];
  return [
    ...(namespace ? [{header: 'NAMESPACE', value: ({record}: RecordedPodEvent) => record.namespace}] : []),
    {header: 'LAST SEEN', value: ({event}) => age(event.lastTimestamp)},
    {header: 'TYPE', value: ({event}) => event.type},
    {header: 'REASON', value: ({event}) => event.reason},
    {header: 'OBJECT', value: ({record}) => `pod/${record.name}`},
    ...(wide ? [] : [{header: 'CONTAINER', value: containerText}]),
    ...inWide([
      {header: 'SUBOBJECT', value: ({event}) => event.fieldPath ?? ''},
      {header: 'SOURCE', value: sourceText},
    ]),
    {header: 'MESSAGE', value: ({event}) => event.message.trim()},
    ...inWide([
      {header: 'FIRST SEEN', value: ({event}) => age(event.firstTimestamp)},
      {header: 'COUNT', value: ({event}) => String(event.count)},
      {header: 'NAME', value: eventName},
    ]),
  ];
}

function containerText({event}: RecordedPodEvent): string {
  return eventContainer(event) ?? '<none>';
}

function sourceText({record: {pod}, component = 'kubelet'}: RecordedPodEvent): string {
  const {nodeName} = pod.spec;
  return nodeName === undefined ? component : `${component}, ${nodeName}`;
}

/**
 * Returns the name of an event as client-go builds it: the pod name and a time in hexadecimal nanoseconds. kcri knows
 * the time in milliseconds.
 */
function eventName({record, event}: RecordedPodEvent): string {
  const {type, reason, message, fieldPath = '', firstTimestamp} = event;
  const hash = createHash('sha256').update([type, reason, message, fieldPath].join('\0')).digest();
  const nanos = BigInt(Date.parse(firstTimestamp)) * 1_000_000n + BigInt(hash.readUInt32BE() % 1_000_000);
  return `${record.name}.${nanos.toString(16)}`;
}

/** Returns the event as an Event object of the API. */
export function eventJson(recorded: RecordedPodEvent): JsonObject {
  const {record, event, component = 'kubelet'} = recorded;
  const {uid, namespace, name, pod} = record;
  const {type, reason, message, fieldPath, count, firstTimestamp, lastTimestamp} = event;
  const {nodeName} = pod.spec;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {name: eventName(recorded), namespace, creationTimestamp: firstTimestamp},
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace,
      name,
      uid,
      ...(fieldPath !== undefined && {fieldPath}),
    },
    type,
    reason,
    message,
    count,
    firstTimestamp,
    lastTimestamp,
    source: {component, ...(nodeName !== undefined && {host: nodeName})},
  };
}

/** Returns the subject of an event for event filters, with the UID of the pod as the sandbox ID. */
export function eventSubject({
  record: {uid: id, name, namespace, pod},
  event,
}: RecordedPodEvent): EventSubject {
  const {labels = {}} = pod.metadata;
  const container = eventContainer(event);
  return {
    pod: {id, name, namespace, labels},
    container: container === undefined ? undefined : {id: '', name: container, podId: id, labels},
  };
}

/** Formats a recorded event as one line of `kcri events`, with control characters escaped. */
export function podEventLine({record, event}: RecordedPodEvent): string {
  const {type, reason, message, lastTimestamp} = event;
  const container = eventContainer(event);
  const pod = `${record.namespace}/${record.name}`;
  const title = container === undefined ? pod : `${pod}/${container}`;
  const time = lastTimestamp.replace(/\.\d+Z$/, 'Z');
  const object = container === undefined ? 'pod' : 'container';
  const line = [time, type.padEnd(7), object.padEnd(9), reason.padEnd(13), title, message.trim()].join('  ');
  return escapeToLine(line);
}

/** Detects new and repeated events between two samples. */
export class EventChangeDetector {
  #before: ReadonlyMap<string, number> = new Map();

  detect(events: readonly RecordedPodEvent[]): readonly RecordedPodEvent[] {
    const before = this.#before;
    this.#before = new Map(events.map((recorded) => [keyOf(recorded), recorded.event.count]));
    return events.filter((recorded) => before.get(keyOf(recorded)) !== recorded.event.count);
  }
}

function keyOf({
  record: {uid},
  event: {type, reason, message, fieldPath = '', firstTimestamp},
}: RecordedPodEvent): string {
  return [uid, type, reason, message, fieldPath, firstTimestamp].join('\0');
}

/** Compares events by time, newest last. */
export function compareByTime(a: RecordedPodEvent, b: RecordedPodEvent): number {
  return Date.parse(a.event.lastTimestamp) - Date.parse(b.event.lastTimestamp);
}
