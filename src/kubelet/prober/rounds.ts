import {isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod, Probe} from '../../api/v1.js';
import {hasEnded, type ContainerStatus, type PodStatus} from '../../api/v1-status.js';
import {containerId, type ContainerId} from '../../cri/index.js';
import type {ProbeKind, ProbeResult, Readiness, RunningInstance} from '../container/probe-results.js';

/** What is probed, and when the kubelet came up. */
export interface RoundSubject {
  readonly pod: Pod;
  readonly container: Container;
  readonly kind: ProbeKind;
  readonly probe: Probe;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Whether a container that exits with that code comes again. */
  readonly comesAgain: (exitCode: number, status: PodStatus) => boolean;
}

/** What a worker knows from its rounds before. */
export interface ProbeMemory {
  readonly id: ContainerId | undefined;
  /** Nothing is probed until there is another instance. */
  readonly onHold: boolean;
  readonly last: ProbeResult | undefined;
  /** How many times in a row the last result came. */
  readonly run: number;
}

export const NO_MEMORY: ProbeMemory = {id: undefined, onHold: false, last: undefined, run: 0};

/** What a round begins with. */
export interface Round {
  readonly memory: ProbeMemory;
  /** What now counts for the instance, in this order. */
  readonly results: readonly ProbeResult[];
  readonly next: 'probe' | 'wait' | 'end';
}

/** What counts for a new instance until it is probed. */
const INITIAL: Readonly<Record<ProbeKind, ProbeResult>> = {
  readiness: 'Failure',
  liveness: 'Success',
  startup: 'Unknown',
};

/** An instance that is this much older than the kubelet was there before it. */
const RESTART_GRACE_MS = 10_000;

/** Whether a round probes, waits for another one, or is the last (prober/worker.go doProbe). */
export function beginRound(
  subject: RoundSubject,
  memory: ProbeMemory,
  status: PodStatus,
  nowMs: number,
): Round {
  if (hasEnded(status.phase)) return {memory, results: [], next: 'end'};
  const container = statusOf(subject.container, status);
  if (container === undefined) return {memory, results: [], next: 'wait'};
  const {id, initial} = seen(subject, memory, container);
  const known = initial === undefined ? memory : {...memory, id, onHold: false};
  const results = initial ?? [];
  if (known.onHold) return {memory: known, results, next: 'wait'};
  const {counts = [], next} = stepFor(subject, container, {status, nowMs});
  return {memory: known, results: [...results, ...counts], next};
}

interface Step {
  readonly counts?: readonly ProbeResult[];
  readonly next: Round['next'];
}

function stepFor(
  subject: RoundSubject,
  container: ContainerStatus,
  {status, nowMs}: {readonly status: PodStatus; readonly nowMs: number},
): Step {
  const {running, terminated} = container.state ?? {};
  if (running === undefined) {
    const comesAgain = terminated === undefined || subject.comesAgain(terminated.exitCode, status);
    return {counts: ['Failure'], next: comesAgain ? 'wait' : 'end'};
  }
  // A container that is to end must not be found unhealthy.
  if (subject.pod.metadata.deletionTimestamp !== undefined && subject.kind !== 'readiness')
    return {counts: ['Success'], next: 'end'};
  return {next: isDue(subject, container, nowMs) ? 'probe' : 'wait'};
}

function isDue({kind, probe}: RoundSubject, {state, started}: ContainerStatus, nowMs: number): boolean {
  const ageSeconds = Math.floor((nowMs - startOf(state)) / 1000);
  if (ageSeconds < (probe.initialDelaySeconds ?? 0)) return false;
  // The startup probe is for a container that hasn't started, the others for one that has.
  return (kind === 'startup') === (started !== true);
}

/** The instance, and for one that is new what counts for it at first. */
function seen(
  {container, kind, startedAtMs}: RoundSubject,
  {id: known}: ProbeMemory,
  {containerID = '', state, started}: ContainerStatus,
): {readonly id: ContainerId; readonly initial: readonly ProbeResult[] | undefined} {
  const id = instanceOf(containerID);
  if (id === known) return {id, initial: undefined};
  // One that was there before the kubelet keeps what was known of it.
  const isOld = state?.running !== undefined && startOf(state) < startedAtMs - RESTART_GRACE_MS;
  const hasStarted = kind === 'startup' && isRestartableInit(container) && started === true;
  if (isOld) return {id, initial: hasStarted ? ['Success'] : []};
  return {id, initial: [INITIAL[kind]]};
}

/** What follows from a probe: a result counts once it has come as often in a row as the probe's threshold says. */
export function endRound(
  {kind, probe}: Pick<RoundSubject, 'kind' | 'probe'>,
  memory: ProbeMemory,
  result: Exclude<ProbeResult, 'Unknown'>,
): {readonly memory: ProbeMemory; readonly counts: boolean} {
  const run = memory.last === result ? memory.run + 1 : 1;
  const {failureThreshold = 3, successThreshold = 1} = probe;
  const counts = run >= (result === 'Failure' ? failureThreshold : successThreshold);
  const concludes = counts && (kind === 'startup' || (kind === 'liveness' && result === 'Failure'));
  return {
    memory: {...memory, last: result, run: concludes ? 0 : run, onHold: concludes},
    counts,
  };
}

/** How far a running instance has come, by its probes' results (prober_manager.go UpdatePodStatus). */
export function readinessOf(
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

/** The id of a container's newest instance in its status, which has the runtime's name before it. */
export function instanceOf(fullId: string): ContainerId {
  return containerId(fullId.replace(/^.*:\/\//, ''));
}

/** A container of which there is, or was, an instance. */
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
