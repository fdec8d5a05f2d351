import {createHash} from 'node:crypto';
import type {JsonObject} from '../../format/json.js';
import {ageOf} from '../../format/short-duration.js';
import type {Column} from '../../format/table.js';
import {visibleInLine} from '../../format/visible.js';
import type {PodRecord, RecordedEvent} from '../../kubelet/index.js';
import type {EventSubject} from '../../operations/events.js';

/** An event and the pod that it is of. */
export interface KeptEvent {
  readonly record: PodRecord;
  readonly event: RecordedEvent;
}

/** What columns there are. */
export interface EventColumnOptions {
  readonly wide: boolean;
  readonly namespace: boolean;
  readonly nowMs: () => number;
}

/** The columns of `get events`, kubectl's. */
export function eventColumns({wide, namespace, nowMs}: EventColumnOptions): readonly Column<KeptEvent>[] {
  const age = (time: string): string => ageOf(time, nowMs());
  const inWide = (columns: readonly Column<KeptEvent>[]): readonly Column<KeptEvent>[] =>
    wide ? columns : [];
  return [
    ...(namespace ? [{header: 'NAMESPACE', value: ({record}: KeptEvent) => record.namespace}] : []),
    {header: 'LAST SEEN', value: ({event}) => age(event.lastTimestamp)},
    {header: 'TYPE', value: ({event}) => event.type},
    {header: 'REASON', value: ({event}) => event.reason},
    {header: 'OBJECT', value: ({record}) => `pod/${record.name}`},
    ...inWide([
      {header: 'SUBOBJECT', value: ({event}) => event.fieldPath ?? ''},
      {header: 'SOURCE', value: ({record}) => sourceText(record)},
    ]),
    {header: 'MESSAGE', value: ({event}) => event.message.trim()},
    ...inWide([
      {header: 'FIRST SEEN', value: ({event}) => age(event.firstTimestamp)},
      {header: 'COUNT', value: ({event}) => String(event.count)},
      {header: 'NAME', value: eventName},
    ]),
  ];
}

function sourceText({pod}: PodRecord): string {
  const {nodeName} = pod.spec;
  return nodeName === undefined ? 'kubelet' : `kubelet, ${nodeName}`;
}

/** As client-go has it: the pod's name and a time in hexadecimal nanoseconds, of which kcri knows milliseconds. */
function eventName({record, event}: KeptEvent): string {
  const {type, reason, message, fieldPath = '', firstTimestamp} = event;
  const hash = createHash('sha256').update([type, reason, message, fieldPath].join('\0')).digest();
  const nanos = BigInt(Date.parse(firstTimestamp)) * 1_000_000n + BigInt(hash.readUInt32BE() % 1_000_000);
  return `${record.name}.${nanos.toString(16)}`;
}

/** The Event as an API server would send it. */
export function eventJson(kept: KeptEvent): JsonObject {
  const {record, event} = kept;
  const {uid, namespace, name, pod} = record;
  const {type, reason, message, fieldPath, count, firstTimestamp, lastTimestamp} = event;
  const {nodeName} = pod.spec;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {name: eventName(kept), namespace, creationTimestamp: firstTimestamp},
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
    source: {component: 'kubelet', ...(nodeName !== undefined && {host: nodeName})},
  };
}

/** The container that an event is about; undefined when it is about the pod. */
function containerOf({fieldPath = ''}: RecordedEvent): string | undefined {
  return /\{(.+)\}$/.exec(fieldPath)?.[1];
}

/** What it is about, as filters of events look at it: the pod's UID stands for its sandbox. */
export function subjectOf({record: {uid: id, name, namespace, pod}, event}: KeptEvent): EventSubject {
  const {labels = {}} = pod.metadata;
  const container = containerOf(event);
  return {
    pod: {id, name, namespace, labels},
    container: container === undefined ? undefined : {id: '', name: container, podId: id, labels},
  };
}

/** An event for people among those of the runtime (`kcri events`), in one line that can't steer a terminal. */
export function podEventLine({record, event}: KeptEvent): string {
  const {type, reason, message, lastTimestamp} = event;
  const container = containerOf(event);
  const pod = `${record.namespace}/${record.name}`;
  const title = container === undefined ? pod : `${pod}/${container}`;
  const time = lastTimestamp.replace(/\.\d+Z$/, 'Z');
  const object = container === undefined ? 'pod' : 'container';
  const line = [time, type.padEnd(7), object.padEnd(9), reason.padEnd(13), title, message.trim()].join('  ');
  return visibleInLine(line);
}

/** Finds out which events are new, or have happened again, from one look to the next. */
export class EventChanges {
  #before: ReadonlyMap<string, number> = new Map();

  since(events: readonly KeptEvent[]): readonly KeptEvent[] {
    const before = this.#before;
    this.#before = new Map(events.map((kept) => [keyOf(kept), kept.event.count]));
    return events.filter((kept) => before.get(keyOf(kept)) !== kept.event.count);
  }
}

function keyOf({
  record: {uid},
  event: {type, reason, message, fieldPath = '', firstTimestamp},
}: KeptEvent): string {
  return [uid, type, reason, message, fieldPath, firstTimestamp].join('\0');
}

/** What happened last stands last. */
export function byTime(a: KeptEvent, b: KeptEvent): number {
  return Date.parse(a.event.lastTimestamp) - Date.parse(b.event.lastTimestamp);
}
