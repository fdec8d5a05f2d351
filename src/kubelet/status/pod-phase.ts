import type {Container, Pod} from '../../api/v1.js';
import type {ContainerStatus, PodPhase} from '../../api/v1-status.js';
import {effectiveRestartPolicy} from '../kuberuntime/restart-policy.js';

/** How many regular containers are in which state. */
interface Counts {
  running: number;
  stopped: number;
  succeeded: number;
  waiting: number;
  unknown: number;
  restartable: number;
}

const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

/** The pod's phase, from the statuses of its containers (kubelet_pods.go getPhase). */
export function podPhase(
  pod: Pod,
  initStatuses: readonly ContainerStatus[],
  statuses: readonly ContainerStatus[],
): PodPhase {
  const init = initPhase(pod, initStatuses);
  if (init === 'failed') return 'Failed';
  const counts = countStates(pod, statuses);
  const sidecars = countSidecars(pod, initStatuses);
  const running = counts.running + sidecars.running;
  if (init === 'pending' || counts.waiting + sidecars.waiting > 0) return 'Pending';
  if (running > 0 && counts.unknown === 0) return 'Running';
  if (running === 0 && counts.stopped > 0 && counts.unknown === 0) {
    if (counts.restartable > 0) return 'Running';
    return counts.succeeded === counts.stopped ? 'Succeeded' : 'Failed';
  }
  return 'Pending';
}

function initPhase(pod: Pod, statuses: readonly ContainerStatus[]): 'pending' | 'failed' | 'done' {
  const verdicts = (pod.spec.initContainers ?? [])
    .filter((container) => !isSidecar(container))
    .map((container) => initVerdict(pod, container, statuses));
  if (verdicts.includes('failed')) return 'failed';
  return verdicts.includes('pending') ? 'pending' : 'done';
}

function initVerdict(
  pod: Pod,
  container: Container,
  statuses: readonly ContainerStatus[],
): 'pending' | 'failed' | 'done' {
  const {state, lastState} = statuses.find(({name}) => name === container.name) ?? {};
  const exitCode = (state?.terminated ?? lastState?.terminated)?.exitCode ?? 0;
  if (exitCode !== 0 && effectiveRestartPolicy(pod, container) === 'Never') return 'failed';
  return state?.terminated?.exitCode === 0 ? 'done' : 'pending';
}

function countSidecars(
  pod: Pod,
  statuses: readonly ContainerStatus[],
): {readonly running: number; readonly waiting: number} {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  const states = sidecars.map(({name}) => statuses.find((status) => status.name === name));
  return {
    running: states.filter((status) => status?.state?.running !== undefined).length,
    waiting: states.filter(
      (status) => status?.state?.waiting !== undefined && status.lastState?.terminated === undefined,
    ).length,
  };
}

function countStates(pod: Pod, statuses: readonly ContainerStatus[]): Counts {
  const counts: Counts = {running: 0, stopped: 0, succeeded: 0, waiting: 0, unknown: 0, restartable: 0};
  for (const container of pod.spec.containers)
    count(
      counts,
      pod,
      container,
      statuses.find(({name}) => name === container.name),
    );
  return counts;
}

function count(counts: Counts, pod: Pod, container: Container, status: ContainerStatus | undefined): void {
  const {state: {running, terminated, waiting} = {}, lastState = {}} = status ?? {};
  const ended = terminated ?? (waiting === undefined ? undefined : lastState.terminated);
  if (running !== undefined) counts.running++;
  else if (ended !== undefined) {
    counts.stopped++;
    if (terminated?.exitCode === 0) counts.succeeded++;
    if (isRestartable(pod, container, ended.exitCode)) counts.restartable++;
  } else if (waiting !== undefined) counts.waiting++;
  else counts.unknown++;
}

function isRestartable(pod: Pod, container: Container, exitCode: number): boolean {
  const policy = effectiveRestartPolicy(pod, container);
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}
