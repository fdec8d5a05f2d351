import {hashContainer} from '../../../../api/container-hash.js';
import {containersOf} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {Backoff} from '../../../../base/async/backoff.js';
import type {ContainerStatus, PodStatus} from '../../../../api/types/v1-status.js';
import {filterByName, findByName} from '../../../../base/by-name.js';
import {formatDuration, parseDuration} from '../../../../format/duration.js';
import {createContainerEventRecorder, type ContainerKind} from '../../../contract/pod-event.js';
import {formatPod, podRef} from '../../../contract/pod-ref.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SyncFailure} from '../../../contract/sync-result.js';
import type {StartEnvironment} from './start-container.js';
import type {SyncContext} from '../sync-context.js';

const INITIAL_MS = 10_000;
const MAX_MS = 300_000;
/** Time since the last crash after which the back-off starts again at the initial delay, in ms, whatever the maximum. */
const EXPIRY_MS = 600_000;

/**
 * Returns the back-off of crashing containers: 10 s, doubling to `maxMs`, 5 min by default
 * (crashLoopBackOff.maxContainerRestartPeriod). A container that ran for 10 min starts again with 10 s.
 */
export function createCrashLoopBackOff(maxMs = MAX_MS): Backoff {
  return new Backoff(Math.min(INITIAL_MS, maxMs), maxMs, EXPIRY_MS);
}

/** A pod that another kubelet has left. */
export interface LeftPod {
  readonly pod: Pod;
  readonly observed: RuntimePodStatus;
  /** The pod's previous status. */
  readonly known: PodStatus;
  /** When a daemon has taken over the pod, in ms since the epoch. */
  readonly takenOverAt: number;
}

/**
 * Restores the delays of the containers of a pod that another kubelet has left, from the message of its previous status, or else
 * from the time that passed between the exit of an instance, as the runtime or that status knows it, and the creation of the next
 * one. A container whose first
 * instance runs or has exited has no delay yet. A kubelet that restarts forgets its own: those of instances that it created.
 */
export function restoreCrashLoopBackOff(
  {crashBackoff}: Pick<SyncContext, 'crashBackoff'>,
  {
    pod,
    observed: {containers},
    known: {containerStatuses = [], initContainerStatuses = []},
    takenOverAt,
  }: LeftPod,
): void {
  const known = [...containerStatuses, ...initContainerStatuses];
  for (const container of containersOf(pod)) {
    const [newest, before] = filterByName(containers, container.name);
    if (newest === undefined || newest.restartCount === 0 || newest.hash !== hashContainer(container))
      continue;
    const createdAt = Number(newest.cri.createdAt / 1_000_000n);
    if (createdAt >= takenOverAt) continue;
    const status = findByName(known, container.name);
    const waitedMs = createdAt - (exitedAtMs(before, status) ?? createdAt);
    const toldMs = toldDelayMs(newest, status);
    crashBackoff.restore(backoffKey(pod, container), toldMs === undefined ? waitedMs : toldMs - 1, createdAt);
  }
}

/** Returns the delay that a status reports of the exit of this instance, in ms; undefined without one. */
function toldDelayMs({cri}: RuntimeContainerStatus, status: ContainerStatus | undefined): number | undefined {
  if (status?.containerID?.endsWith(`//${cri.id}`) !== true) return undefined;
  const [, delay = ''] = /^back-off (\S+) restarting /.exec(status.state?.waiting?.message ?? '') ?? [];
  const nanos = parseDuration(delay);
  return nanos === undefined ? undefined : Number(nanos / 1_000_000n);
}

/** Returns when the instance before the newest one exited, in ms since the epoch; undefined if neither source knows it. */
function exitedAtMs(
  before: RuntimeContainerStatus | undefined,
  status: ContainerStatus | undefined,
): number | undefined {
  if (before !== undefined) return finishedAtMs(before);
  const known = Date.parse(status?.lastState?.terminated?.finishedAt ?? '');
  return Number.isNaN(known) ? undefined : known;
}

/**
 * Returns the CrashLoopBackOff failure of a container that exited too recently to be restarted, and records a BackOff
 * event (kuberuntime doBackOff). Returns undefined if it may start, and then starts or doubles its delay.
 */
export function checkCrashLoopBackOff(
  context: SyncContext,
  {pod, status}: StartEnvironment,
  {container, kind}: {readonly container: Container; readonly kind: ContainerKind},
): SyncFailure | undefined {
  const exited = findExited(status, container);
  if (exited === undefined) return undefined;
  const key = backoffKey(pod, container);
  const finishedAt = finishedAtMs(exited);
  const now = context.clock.now();
  const retryAt = context.crashBackoff.waitUntil(key, finishedAt, now);
  if (retryAt === undefined) {
    context.crashBackoff.next(key, finishedAt, now);
    return undefined;
  }
  const podName = formatPod(podRef(pod));
  const backOffMs = context.crashBackoff.get(key);
  const delay = formatDuration(BigInt(backOffMs) * 1_000_000n);
  createContainerEventRecorder(context.events, pod, kind, container.name).warning(
    'BackOff',
    `Back-off restarting failed container ${container.name} in pod ${podName}`,
  );
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${delay} restarting failed container=${container.name} pod=${podName}`,
    retryAt,
    backOffMs,
  };
}

/** Reverts the delay that checkCrashLoopBackOff started or doubled, after an attempt that does not count. */
export function revertCrashLoopBackOff(
  {crashBackoff}: Pick<SyncContext, 'crashBackoff'>,
  {pod, status}: Pick<StartEnvironment, 'pod' | 'status'>,
  container: Container,
): void {
  if (findExited(status, container) !== undefined) crashBackoff.revert(backoffKey(pod, container));
}

/** Returns the newest exited instance of the container. */
function findExited(
  {containers}: RuntimePodStatus,
  container: Container,
): RuntimeContainerStatus | undefined {
  return containers.find(({name, state}) => name === container.name && state === 'CONTAINER_EXITED');
}

function finishedAtMs({cri}: RuntimeContainerStatus): number {
  return Number(cri.finishedAt / 1_000_000n);
}

/**
 * Returns the identity of a container for the back-off; a changed image or changed resources reset the delay
 * (GetBackoffKey).
 */
function backoffKey(pod: Pod, container: Container): string {
  const {name, namespace, uid} = podRef(pod);
  const resources = JSON.stringify(container.resources ?? {});
  return [name, namespace, uid, container.name, container.image, resources].join('/');
}
