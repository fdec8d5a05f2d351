import type {Pod} from '../api/v1.js';
import {messageOf} from '../base/errors.js';
import type {PodUid} from '../cri/index.js';
import type {PlegReport} from './container/pleg.js';
import type {ProbeKind, ProbeResult, ProbeState} from './container/probe-results.js';
import {podRef} from './container/pod-ref.js';
import type {DesiredPod} from './container/pod-update.js';
import type {BackOff} from './pod-status-keeper.js';
import type {WorkerReport} from './pod-workers/worker-state.js';

/** What a running daemon tells of itself to other kcris. All times are RFC 3339. */
export interface KubeletReport {
  readonly pid: number;
  readonly startedAt: string;
  /** Its clock's time. */
  readonly now: string;
  /** The runtime's. */
  readonly endpoint: string;
  /** Of its HTTP servers by name. */
  readonly urls: Readonly<Record<string, string>>;
  /** When its sync loop was last active. */
  readonly lastActiveAt: string;
  /** Why pods can't be synced now; empty when all is well. */
  readonly errors: readonly string[];
  /** Whether the runtime's events are relied on, or it is listed each second; and when it was last. */
  readonly pleg: {readonly mode: 'events' | 'relists'; readonly relistedAt?: string};
  /** How many pods its sources want. */
  readonly wantedPods: number;
  /** The pods that were asked for and that it knows, or all. */
  readonly pods: readonly KubeletPodReport[];
}

/** What the daemon alone knows of a pod. */
export interface KubeletPodReport {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  /** The file or URL that the pod comes from; absent when no source wants it any more. */
  readonly source?: string;
  readonly worker: PodWorkerReport;
  readonly containers: readonly KubeletContainerReport[];
}

/** How a pod's worker stands. */
export interface PodWorkerReport {
  /** `rejected` of a pod that the node has no room for, `none` of one that is yet to begin. */
  readonly state: WorkerReport['kind'] | 'rejected' | 'none';
  readonly isWorking: boolean;
  /** `turn`: the end of another pod of its name; `status`: a newer one from the runtime. */
  readonly waitsFor?: 'turn' | 'status';
  readonly terminatingAt?: string;
  readonly gracePeriodSeconds?: number;
  /** When its last work ended. */
  readonly lastSyncAt?: string;
  /** Why that failed; absent when it did not. */
  readonly error?: string;
  readonly nextSyncAt?: string;
}

/** A container of which there is something to tell. */
export interface KubeletContainerReport {
  readonly name: string;
  /** Why and until when it is not started again. */
  readonly backOff?: {readonly reason: string; readonly until: string; readonly seconds?: number};
  readonly probes: readonly ProbeReport[];
}

/** How one of a container's probes stands. */
export interface ProbeReport {
  readonly kind: ProbeKind;
  /** What counts for the container; absent when nothing does yet. */
  readonly counts?: ProbeResult;
  readonly last?: {readonly at: string; readonly result: ProbeResult; readonly output: string};
  readonly inARow: number;
  readonly threshold: number;
  readonly nextAt?: string;
  readonly waitsFor?: 'another instance' | 'its time';
}

/** What is known of a pod at its report. */
export interface ReportedPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  readonly desired: DesiredPod | undefined;
  readonly isRejected: boolean;
  readonly worker: WorkerReport | undefined;
  readonly backOffs: ReadonlyMap<string, BackOff>;
  readonly probes: readonly ProbeState[];
}

export function podReport({uid, pod, desired, ...known}: ReportedPod): KubeletPodReport {
  const {namespace, name} = podRef(pod);
  const {initContainers = [], containers} = pod.spec;
  return {
    uid,
    namespace,
    name,
    ...(desired && {source: desired.origin}),
    worker: workerReport(known),
    containers: [...initContainers, ...containers]
      .map((container) => containerReport(container.name, known))
      .filter(({backOff, probes}) => backOff !== undefined || probes.length > 0),
  };
}

function workerReport({worker, isRejected}: Pick<ReportedPod, 'worker' | 'isRejected'>): PodWorkerReport {
  if (worker === undefined) return {state: isRejected ? 'rejected' : 'none', isWorking: false};
  const {kind, isWorking, waitsFor, gracePeriodSeconds, error} = worker;
  const {terminatingAt, lastSyncAt, nextSyncAt} = worker;
  return {
    state: kind,
    isWorking,
    ...(waitsFor && {waitsFor}),
    ...(terminatingAt !== undefined && {terminatingAt: timeText(terminatingAt), gracePeriodSeconds}),
    ...(lastSyncAt !== undefined && {lastSyncAt: timeText(lastSyncAt)}),
    ...(error !== undefined && {error: messageOf(error)}),
    ...(nextSyncAt !== undefined && {nextSyncAt: timeText(nextSyncAt)}),
  };
}

function containerReport(
  name: string,
  {backOffs, probes}: Pick<ReportedPod, 'backOffs' | 'probes'>,
): KubeletContainerReport {
  const backOff = backOffs.get(name);
  return {
    name,
    ...(backOff && {backOff: backOffReport(backOff)}),
    probes: probes.filter(({container}) => container === name).map(probeReport),
  };
}

function backOffReport({reason, retryAt, delayMs}: BackOff): NonNullable<KubeletContainerReport['backOff']> {
  return {reason, until: timeText(retryAt), ...(delayMs !== undefined && {seconds: delayMs / 1000})};
}

function probeReport({kind, counts, last, inARow, threshold, nextAt, waitsFor}: ProbeState): ProbeReport {
  return {
    kind,
    ...(counts && {counts}),
    ...(last && {last: {...last, at: timeText(last.at)}}),
    inARow,
    threshold,
    ...(nextAt !== undefined && {nextAt: timeText(nextAt)}),
    ...(waitsFor && {waitsFor}),
  };
}

export function plegReport({reliesOnEvents, relistedAt}: PlegReport): KubeletReport['pleg'] {
  return {
    mode: reliesOnEvents ? 'events' : 'relists',
    ...(relistedAt !== undefined && {relistedAt: timeText(relistedAt)}),
  };
}

/** RFC 3339 of a time in ms since the epoch. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
