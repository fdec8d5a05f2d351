import {containersOf} from '../../../api/pod-containers.js';
import type {Node} from '../../../api/types/v1-node.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {messageOf} from '../../../base/errors.js';
import type {NodePressure} from '../../contract/cluster/node-pressure.js';
import type {PodUid} from '../../../cri/index.js';
import type {PlegReport} from '../../contract/pleg.js';
import type {ProbeKind, ProbeResult, ProbeState} from '../../contract/probe-results.js';
import {podRef} from '../../contract/pod-ref.js';
import type {DesiredPod} from '../../contract/pod-update.js';
import type {ContainerBackOff} from '../../contract/waiting-reason.js';
import type {ManifestProblem} from './manifest-problem.js';
import type {NodeReport} from './node-report.js';
import type {PodLife, TimelineStep} from '../../pods/history/pod-timelines.js';
import type {ThresholdReport} from '../../pods/eviction/threshold-report.js';
import type {WorkerReport} from '../../pods/workers/worker-state.js';

/** Parts that a report is to have. */
export interface ReportRequest {
  /** UIDs of the pods; all pods by default. */
  readonly uids?: readonly PodUid[] | undefined;
  /** True for the steps of the pods' lives. */
  readonly timelines?: boolean | undefined;
  /** True for the lives of deleted pods. */
  readonly deletedPods?: boolean | undefined;
}

/** Report of a running daemon for other kcri processes. All times are RFC 3339. */
export interface KubeletReport {
  readonly pid: number;
  readonly startedAt: string;
  /** Time of the daemon's clock. */
  readonly now: string;
  /** Endpoint of the runtime. */
  readonly endpoint: string;
  /** URLs of the HTTP servers by name. */
  readonly urls: Readonly<Record<string, string>>;
  /** Time at which the sync loop was last active. */
  readonly lastActiveAt: string;
  /** Reasons why pods cannot be synced now; empty if they can. */
  readonly errors: readonly string[];
  /** Pressure conditions of the node that are true; absent without any. */
  readonly pressures?: readonly NodePressure[];
  /** Eviction thresholds; absent for an older version of the daemon, or without eviction. */
  readonly thresholds?: readonly ThresholdReport[];
  /**
   * Source of the PLEG's changes: runtime events, or a relist every second. `relistedAt` is the time of the last
   * relist.
   */
  readonly pleg: {readonly mode: 'events' | 'relists'; readonly relistedAt?: string};
  /** The Node object of the cluster as last seen; absent without a cluster. */
  readonly node?: Node;
  /** Configuration of the node, for its Node object without a cluster; absent for an older version of the daemon. */
  readonly localNode?: NodeReport;
  /** Problems of manifests and their sources; absent without any. */
  readonly manifestProblems?: readonly ManifestProblem[];
  /** Number of pods that the sources desire. */
  readonly wantedPods: number;
  /** Requested pods that the daemon knows; all its pods if no UIDs were requested. */
  readonly pods: readonly KubeletPodReport[];
  /**
   * Deleted pods whose lives are still known, the one that changed last at the end; absent if they were not requested, or for an older version.
   */
  readonly deletedPods?: readonly PodLife[];
}

/** State of a pod that only the daemon knows. */
export interface KubeletPodReport {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  /** File or URL of the pod; absent if no source contains the pod. */
  readonly source?: string;
  readonly worker: PodWorkerReport;
  readonly containers: readonly KubeletContainerReport[];
  /** Steps of the pod's life since the daemon's start; absent if they were not requested, or for an older version. */
  readonly timeline?: readonly TimelineStep[];
}

/** State of a pod worker. */
export interface PodWorkerReport {
  /** `rejected` if the node lacks capacity for the pod, `none` if the worker has not started. */
  readonly state: WorkerReport['kind'] | 'rejected' | 'none';
  readonly isWorking: boolean;
  /** `turn`: the end of another pod with the same name; `status`: a newer status from the runtime. */
  readonly waitsFor?: 'turn' | 'status';
  readonly terminatingAt?: string;
  readonly gracePeriodSeconds?: number;
  /** Time at which the last work ended. */
  readonly lastSyncAt?: string;
  /** Error of the last work; absent if it succeeded. */
  readonly error?: string;
  readonly nextSyncAt?: string;
}

/** State of a container that has a back-off or probes. */
export interface KubeletContainerReport {
  readonly name: string;
  /** Reason and end of the back-off, during which the container is not restarted. */
  readonly backOff?: {readonly reason: string; readonly until: string; readonly seconds?: number};
  readonly probes: readonly ProbeReport[];
}

/** State of a container's probe. */
export interface ProbeReport {
  readonly kind: ProbeKind;
  /** Effective result for the container; absent before the first one. */
  readonly counts?: ProbeResult;
  readonly last?: {readonly at: string; readonly result: ProbeResult; readonly output: string};
  readonly inARow: number;
  readonly threshold: number;
  readonly nextAt?: string;
  readonly waitsFor?: 'another instance' | 'its time';
}

/** Known state of a reported pod. */
export interface ReportedPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  readonly desired: DesiredPod | undefined;
  readonly isRejected: boolean;
  readonly worker: WorkerReport | undefined;
  readonly backOffs: ReadonlyMap<string, ContainerBackOff>;
  readonly probes: readonly ProbeState[];
  readonly timeline: readonly TimelineStep[] | undefined;
}

export function createPodReport({uid, pod, desired, timeline, ...known}: ReportedPod): KubeletPodReport {
  const {namespace, name} = podRef(pod);
  return {
    uid,
    namespace,
    name,
    ...(desired && {source: desired.origin}),
    worker: workerReport(known),
    containers: containersOf(pod)
      .map((container) => containerReport(container.name, known))
      .filter(({backOff, probes}) => backOff !== undefined || probes.length > 0),
    ...(timeline && {timeline}),
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
    ...(terminatingAt !== undefined && {terminatingAt: formatRfc3339(terminatingAt), gracePeriodSeconds}),
    ...(lastSyncAt !== undefined && {lastSyncAt: formatRfc3339(lastSyncAt)}),
    ...(error !== undefined && {error: messageOf(error)}),
    ...(nextSyncAt !== undefined && {nextSyncAt: formatRfc3339(nextSyncAt)}),
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

function backOffReport({
  reason,
  retryAt,
  delayMs,
}: ContainerBackOff): NonNullable<KubeletContainerReport['backOff']> {
  return {reason, until: formatRfc3339(retryAt), ...(delayMs !== undefined && {seconds: delayMs / 1000})};
}

function probeReport({kind, counts, last, inARow, threshold, nextAt, waitsFor}: ProbeState): ProbeReport {
  return {
    kind,
    ...(counts && {counts}),
    ...(last && {last: {...last, at: formatRfc3339(last.at)}}),
    inARow,
    threshold,
    ...(nextAt !== undefined && {nextAt: formatRfc3339(nextAt)}),
    ...(waitsFor && {waitsFor}),
  };
}

export function createPlegReport({reliesOnEvents, relistedAt}: PlegReport): KubeletReport['pleg'] {
  return {
    mode: reliesOnEvents ? 'events' : 'relists',
    ...(relistedAt !== undefined && {relistedAt: formatRfc3339(relistedAt)}),
  };
}

/** Formats a time in ms since the epoch as RFC 3339. */
export function formatRfc3339(ms: number): string {
  return new Date(ms).toISOString();
}
