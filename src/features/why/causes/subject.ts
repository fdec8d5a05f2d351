import {constants} from 'node:os';
import {quantityValue} from '../../../api/quantity.js';
import type {Container} from '../../../api/types/v1-pod.js';
import type {ContainerStateTerminated, ContainerStatus} from '../../../api/types/v1-status.js';
import {formatAgeSince} from '../../../format/age.js';
import {formatRfc3339Nano} from '../../../format/time.js';
import {eventContainer} from '../../events/event-container.js';
import type {RecordedEvent} from '../../../kubelet/index.js';
import type {Advice, Finding} from '../finding.js';
import type {ContainerFacts, PodSnapshot} from '../snapshot/pod-snapshot.js';

/** A container that is to be explained. */
export interface ContainerSubject {
  readonly snapshot: PodSnapshot;
  readonly name: string;
  readonly kind: 'init container' | 'sidecar' | 'container';
  /** Container of the spec, as far as it is known. */
  readonly spec: Container | undefined;
  readonly status: ContainerStatus;
  readonly facts: ContainerFacts;
  /** Exit of the instance that no longer runs; undefined if it runs or never ran. */
  readonly exit: ContainerStateTerminated | undefined;
}

/** Explains a pod, or one of its containers; undefined if its cause is another one. */
export type PodRule = (snapshot: PodSnapshot) => Finding | undefined;
export type ContainerRule = (subject: ContainerSubject) => Finding | undefined;

/** Returns `NAMESPACE/NAME`. */
export function podTitle({pod: {metadata}}: PodSnapshot): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** Returns `container NAME`. */
export function titleOf({kind, name}: ContainerSubject): string {
  return `${kind} ${name}`;
}

/** Returns why a container waits; empty texts if it does not, or says nothing. */
export function waitingOf({state}: Pick<ContainerStatus, 'state'>): {
  readonly reason: string;
  readonly message: string;
} {
  const {reason = '', message = ''} = state?.waiting ?? {};
  return {reason, message};
}

/** Returns the command that prints the log of the instance that failed. */
export function logAdvice({snapshot, name, status}: ContainerSubject): Advice {
  const isPrevious = status.state?.terminated === undefined && status.restartCount > 0;
  const target = `${podTitle(snapshot)}/${name}`;
  return {
    kcri:
      isPrevious && status.state?.running !== undefined ? ['logs', '--previous', target] : ['logs', target],
  };
}

/** Returns the command that describes the pod. */
export function describeAdvice(snapshot: PodSnapshot): Advice {
  return {kcri: ['describe', podTitle(snapshot)]};
}

/** Formats a time for people: in local time, with the date unless it is of the last day, and how long ago it was. */
export function timeText(time: string, {takenAt}: Pick<PodSnapshot, 'takenAt'>): string {
  return `at ${clockText(time, takenAt)} (${formatAgeSince(time, Date.parse(takenAt))} ago)`;
}

const DAY_MS = 86_400_000;

/** Formats a time as `12:40:11`, with the date unless it is within a day of the other time. */
export function clockText(time: string, now: string): string {
  const local = formatRfc3339Nano(BigInt(Math.trunc(Date.parse(time) / 1000)) * 1_000_000_000n);
  const isNear = Math.abs(Date.parse(time) - Date.parse(now)) < DAY_MS;
  return isNear ? local.slice(11, 19) : local.slice(0, 19).replace('T', ' ');
}

/** Returns the events of a container, or of the pod, with one of the reasons, the newest first. */
export function eventsOf(
  {events}: PodSnapshot,
  container: string | undefined,
  ...reasons: readonly string[]
): readonly RecordedEvent[] {
  return events
    .filter((event) => reasons.includes(event.reason) && eventContainer(event) === container)
    .toSorted((a, b) => Date.parse(b.lastTimestamp) - Date.parse(a.lastTimestamp));
}

/** Reports whether an event last happened at a time or later, so that it may concern the instance that started then. */
export function isSince(event: RecordedEvent | undefined, time: string | undefined): boolean {
  // Times of instances have whole seconds.
  return event !== undefined && time !== undefined && Date.parse(event.lastTimestamp) >= Date.parse(time);
}

/** Time in which what happened to a pod that runs is still news, in ms. */
const NEWS_MS = 3_600_000;

/** Reports whether something that happened to a pod that runs now is worth mentioning. */
export function isNews(time: string, {takenAt}: Pick<PodSnapshot, 'takenAt'>): boolean {
  return Date.parse(takenAt) - Date.parse(time) <= NEWS_MS;
}

/** Returns an event as evidence: `FailedMount 3 times, last at 12:40:11 (5s ago)`. */
export function eventText({reason, count, lastTimestamp}: RecordedEvent, snapshot: PodSnapshot): string {
  const times = count > 1 ? ` ${count} times, last` : '';
  return `event ${reason}${times} ${timeText(lastTimestamp, snapshot)}`;
}

/** Signal names by number; of several names, the first one is the usual one: SIGABRT rather than SIGIOT. */
const SIGNALS = new Map<number, string>(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
);

/** Exit codes above this one are those of signals, as shells and runtimes report them. */
const SIGNAL_BASE = 128;

/** Returns the name of the signal that an exit code stands for: `SIGKILL` for 137; undefined for other codes. */
export function signalOf({
  exitCode,
  signal = 0,
}: Pick<ContainerStateTerminated, 'exitCode' | 'signal'>): string | undefined {
  return SIGNALS.get(signal > 0 ? signal : exitCode - SIGNAL_BASE);
}

/** Describes an exit as evidence: `exit code 137 (SIGKILL), OOMKilled, at 12:40:11 (5s ago)`. */
export function exitText(exit: ContainerStateTerminated, snapshot: PodSnapshot): string {
  const {exitCode, reason = '', finishedAt} = exit;
  const signal = signalOf(exit);
  return [
    `exit code ${exitCode}${signal === undefined ? '' : ` (${signal})`}`,
    ...(reason === '' || reason === 'Error' || reason === 'Completed' ? [] : [reason]),
    ...(finishedAt === undefined ? [] : [timeText(finishedAt, snapshot)]),
  ].join(', ');
}

/** Returns the memory limit of a container in bytes; undefined without one, or if it is unknown. */
export function memoryLimitOf({spec, status}: ContainerSubject): number | undefined {
  const limit = status.resources?.limits?.['memory'] ?? spec?.resources?.limits?.['memory'];
  return limit === undefined ? undefined : Number(quantityValue(limit));
}

const SIZES = [
  [2 ** 30, 'Gi'],
  [2 ** 20, 'Mi'],
  [2 ** 10, 'Ki'],
] as const;

/** Formats a number of bytes like a quantity: `64Mi`, `1.5Gi`. */
export function sizeText(bytes: number): string {
  const [unit, suffix] = SIZES.find(([size]) => bytes >= size) ?? [1, ''];
  return `${Math.round((bytes / unit) * 10) / 10}${suffix}`;
}

/** Returns the log of a container's last instance, to be spread into a finding. */
export function logOf({facts: {log = []}}: ContainerSubject): Pick<Finding, 'log'> {
  return log.length === 0 ? {} : {log};
}
