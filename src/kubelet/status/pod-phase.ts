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
  let pending = false;
  for (const container of pod.spec.initContainers ?? []) {
    if (isSidecar(container)) continue;
    const status = statuses.find(({name}) => name === container.name);
    const ended = status?.state?.terminated ?? status?.lastState?.terminated;
    const failed = ended !== undefined && ended.exitCode !== 0;
    if (failed && effectiveRestartPolicy(pod, container) === 'Never') return 'failed';
    if (status?.state?.terminated?.exitCode !== 0) pending = true;
  }
  return pending ? 'pending' : 'done';
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
  for (const container of pod.spec.containers) {
    const status = statuses.find(({name}) => name === container.name);
    const {running, terminated, waiting} = status?.state ?? {};
    const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
    if (running !== undefined) counts.running++;
    else if (ended !== undefined) {
      counts.stopped++;
      if (terminated?.exitCode === 0) counts.succeeded++;
      if (isRestartable(pod, container, ended.exitCode)) counts.restartable++;
    } else if (waiting !== undefined) counts.waiting++;
    else counts.unknown++;
  }
  return counts;
}

function isRestartable(pod: Pod, container: Container, exitCode: number): boolean {
  const policy = effectiveRestartPolicy(pod, container);
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}
