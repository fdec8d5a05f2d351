import {isRestartableInitContainer} from '../../../api/pod-containers.js';
import type {Container, Pod, Probe} from '../../../api/types/v1-pod.js';
import {hasEnded, type ContainerStatus, type PodStatus} from '../../../api/types/v1-status.js';
import {type ContainerId} from '../../../cri/index.js';
import type {ProbeKind, ProbeResult, Readiness, RunningInstance} from '../../contract/probe-results.js';
import {parseContainerId} from '../../contract/parse-container-id.js';

/** Probe of a container, and the facts about the kubelet that decisions need. */
export interface ProbeDecisionSubject {
  readonly pod: Pod;
  readonly container: Container;
  readonly kind: ProbeKind;
  readonly probe: Probe;
  /** Start time of the kubelet, in ms since the epoch. */
  readonly kubeletStartedAtMs: number;
  /** Age difference, in ms, from which on an instance was started before the kubelet. */
  readonly restartGraceMs: number;
  /** Reports whether a container that exits with the code will be restarted. */
  readonly willRestart: (exitCode: number, status: PodStatus) => boolean;
}

/** State of a probe worker between probes. */
export interface ProbeWorkerState {
  readonly id: ContainerId | undefined;
  /** True if probing pauses until the container is restarted. */
  readonly onHold: boolean;
  readonly lastResult: ProbeResult | undefined;
  /** Number of consecutive occurrences of the last result. */
  readonly resultRun: number;
}

export const INITIAL_WORKER_STATE: ProbeWorkerState = {
  id: undefined,
  onHold: false,
  lastResult: undefined,
  resultRun: 0,
};

/** Decision at the start of a probe period. */
export interface ProbeDecision {
  readonly state: ProbeWorkerState;
  /** Results to set for the instance, in order. */
  readonly results: readonly ProbeResult[];
  readonly next: 'probe' | 'wait' | 'end';
}

/** Initial result of a new instance. */
const INITIAL: Readonly<Record<ProbeKind, ProbeResult>> = {
  readiness: 'Failure',
  liveness: 'Success',
  startup: 'Unknown',
};

/** Age difference, in ms, from which on a kubelet takes an instance for one that was started before it. */
export const KUBELET_RESTART_GRACE_MS = 10_000;

/** Decides whether to probe now, wait for the next period or end the worker (prober/worker.go doProbe). */
export function decideProbe(
  subject: ProbeDecisionSubject,
  memory: ProbeWorkerState,
  status: PodStatus,
  nowMs: number,
): ProbeDecision {
  if (hasEnded(status.phase)) return {state: memory, results: [], next: 'end'};
  const container = statusOf(subject.container, status);
  if (container === undefined) return {state: memory, results: [], next: 'wait'};
  const {id, initial} = seen(subject, memory, container);
  const known = initial === undefined ? memory : {...memory, id, onHold: false};
  const results = initial ?? [];
  if (known.onHold) return {state: known, results, next: 'wait'};
  const {counts = [], next} = stepFor(subject, container, {status, nowMs});
  return {state: known, results: [...results, ...counts], next};
}

interface Step {
  readonly counts?: readonly ProbeResult[];
  readonly next: ProbeDecision['next'];
}

function stepFor(
  subject: ProbeDecisionSubject,
  container: ContainerStatus,
  {status, nowMs}: {readonly status: PodStatus; readonly nowMs: number},
): Step {
  const {running, terminated} = container.state ?? {};
  if (running === undefined) {
    const willRestart = terminated === undefined || subject.willRestart(terminated.exitCode, status);
    return {counts: ['Failure'], next: willRestart ? 'wait' : 'end'};
  }
  // A terminating container must not be reported as unhealthy.
  if (subject.pod.metadata.deletionTimestamp !== undefined && subject.kind !== 'readiness')
    return {counts: ['Success'], next: 'end'};
  return {next: isDue(subject, container, nowMs) ? 'probe' : 'wait'};
}

function isDue(
  {kind, probe}: ProbeDecisionSubject,
  {state, started}: ContainerStatus,
  nowMs: number,
): boolean {
  const ageSeconds = Math.floor((nowMs - startOf(state)) / 1000);
  if (ageSeconds < (probe.initialDelaySeconds ?? 0)) return false;
  // Only the startup probe runs before the container has started, and only the others afterwards.
  return (kind === 'startup') === (started !== true);
}

/** Returns the ID of the instance, and its initial results if it is new. */
function seen(
  {container, kind, kubeletStartedAtMs, restartGraceMs}: ProbeDecisionSubject,
  {id: known}: ProbeWorkerState,
  {containerID = '', state, started}: ContainerStatus,
): {readonly id: ContainerId; readonly initial: readonly ProbeResult[] | undefined} {
  const id = parseContainerId(containerID);
  if (id === known) return {id, initial: undefined};
  // An instance from before the start of the kubelet retains its previous state.
  const isOld = state?.running !== undefined && startOf(state) < kubeletStartedAtMs - restartGraceMs;
  const hasStarted = kind === 'startup' && isRestartableInitContainer(container) && started === true;
  if (isOld) return {id, initial: hasStarted ? ['Success'] : []};
  return {id, initial: [INITIAL[kind]]};
}

/** Records a result; it counts once its consecutive occurrences reach the threshold of the probe. */
export function recordProbeResult(
  {kind, probe}: Pick<ProbeDecisionSubject, 'kind' | 'probe'>,
  memory: ProbeWorkerState,
  result: Exclude<ProbeResult, 'Unknown'>,
): {readonly memory: ProbeWorkerState; readonly counts: boolean} {
  const run = memory.lastResult === result ? memory.resultRun + 1 : 1;
  const {failureThreshold = 3, successThreshold = 1} = probe;
  const counts = run >= (result === 'Failure' ? failureThreshold : successThreshold);
  const isConclusive = counts && (kind === 'startup' || (kind === 'liveness' && result === 'Failure'));
  return {
    memory: {...memory, lastResult: result, resultRun: isConclusive ? 0 : run, onHold: isConclusive},
    counts,
  };
}

/** Returns whether a running instance has started and is ready (prober_manager.go UpdatePodStatus). */
export function computeReadiness(
  {container, before}: RunningInstance,
  results: {readonly startup: ProbeResult | undefined; readonly readiness: ProbeResult | undefined},
): Readiness {
  const {startupProbe, readinessProbe} = container;
  const started =
    results.startup === undefined
      ? startupProbe === undefined || before?.started === true
      : results.startup === 'Success';
  const isReady =
    results.readiness === undefined
      ? readinessProbe === undefined || before?.ready === true
      : results.readiness === 'Success';
  return {started, ready: started && isReady};
}

/** Returns the status of a container that has or had an instance. */
function statusOf(
  {name}: Container,
  {containerStatuses = [], initContainerStatuses = []}: PodStatus,
): ContainerStatus | undefined {
  return [...containerStatuses, ...initContainerStatuses].find(
    (status) => status.name === name && (status.containerID ?? '') !== '',
  );
}

function startOf(state: ContainerStatus['state']): number {
  return Date.parse(state?.running?.startedAt ?? '');
}
