import {
  findContainer,
  isRestartableInitContainer,
  longRunningContainersOf,
} from '../../api/pod-containers.js';
import type {Container, Pod} from '../../api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../api/types/v1-status.js';
import {findByName} from '../../base/by-name.js';
import {failuresOf, type SyncFailure, type SyncResult} from '../contract/sync-result.js';
import {shouldRestartAfterExit} from '../managers/kuberuntime/compute/restart-policy.js';
import type {SyncPass} from '../pods/sync/pod-syncer.js';

/** Wait condition of `kcri sync`. */
export type WaitFor = 'ready' | 'complete';

/** Options of the wait of a foreground sync. */
export interface WaitOptions {
  readonly wait: WaitFor;
  /** True if failures are retried with the kubelet's back-off, because there is a time limit. */
  readonly retry: boolean;
  /** Time until all containers have run for long enough to count as ready, in ms; see StartupTracker. */
  readonly startingMs?: number | undefined;
}

/** Exit of a container. */
export interface ContainerExit {
  readonly exitCode: number;
  /** Name of the container; undefined if the pod failed without a failed container. */
  readonly container: string | undefined;
  /** Reason of the container's status, such as OOMKilled. */
  readonly exitReason?: string | undefined;
}

/** Outcome of a sync pass for the wait. */
export type WaitResult =
  | {readonly kind: 'ready'}
  /**
   * The pod has terminated. `exitCode` is that of its first failed container, `container`; a sidecar, which is stopped
   * last, only counts if no other container failed.
   */
  | (ContainerExit & {
      readonly kind: 'complete';
      /** Reason why the kubelet itself terminated the pod. */
      readonly problem?: string;
    })
  /** A container has failed for good, so that the pod cannot become ready. */
  | (ContainerExit & {readonly kind: 'broken'})
  /** The containers are ready, but the pod is not: some of its readiness gates are not True. */
  | {readonly kind: 'gated'; readonly gates: readonly string[]}
  | {readonly kind: 'failed'; readonly result: SyncResult & {readonly failure: SyncFailure}}
  /** The containers are ready, but some have not run for long enough. */
  | {readonly kind: 'starting'; readonly remainingMs: number}
  /** The result is still open. */
  | {readonly kind: 'wait'};

/** Returns the outcome of a sync pass for the wait of a foreground sync. */
export function evaluateWait(
  pod: Pod,
  pass: Pick<SyncPass, 'status' | 'results'>,
  options: WaitOptions,
): WaitResult {
  return (
    ended(pod, pass.status) ??
    failedStep(pass.results, options) ??
    readiness(pod, pass, options) ?? {kind: 'wait'}
  );
}

function ended(pod: Pod, status: PodStatus): WaitResult | undefined {
  if (status.phase === 'Succeeded') return {kind: 'complete', exitCode: 0, container: undefined};
  if (status.phase !== 'Failed') return undefined;
  const failed = firstFailed(status, (name) => !isSidecar(pod, name)) ?? firstFailed(status);
  const {reason, message} = status;
  return {
    kind: 'complete',
    ...(failed ?? {exitCode: 1, container: undefined}),
    ...(reason !== undefined && {problem: message === undefined ? reason : `${reason}: ${message.trim()}`}),
  };
}

function failedStep(results: readonly SyncResult[], {wait, retry}: WaitOptions): WaitResult | undefined {
  if (retry) return undefined;
  // A container that runs to completion may crash and restart first.
  const tolerated = ({reason, transient = false}: SyncFailure): boolean =>
    transient || (wait === 'complete' && reason === 'CrashLoopBackOff');
  const result = failuresOf(results).find(({failure}) => !tolerated(failure));
  return result === undefined ? undefined : {kind: 'failed', result};
}

function readiness(
  pod: Pod,
  {status, results}: Pick<SyncPass, 'status' | 'results'>,
  {wait, startingMs = 0}: WaitOptions,
): WaitResult | undefined {
  // The status precedes the results: the status of the next sync includes their changes.
  if (wait !== 'ready' || results.length > 0) return undefined;
  const failed = firstFailed(status, (name, exitCode) => !isRestarted(pod, name, exitCode));
  if (failed !== undefined) return {kind: 'broken', ...failed};
  if (!allReady(pod, status)) return undefined;
  if (startingMs > 0) return {kind: 'starting', remainingMs: startingMs};
  const gates = closedGates(pod, status);
  return gates.length === 0 ? {kind: 'ready'} : {kind: 'gated', gates};
}

/** Returns the readiness gates whose conditions are not True (GeneratePodReadyCondition). */
function closedGates({spec}: Pod, {conditions = []}: PodStatus): readonly string[] {
  const isOpen = (gate: string): boolean =>
    conditions.some(({type, status}) => type === gate && status === 'True');
  return (spec.readinessGates ?? []).map(({conditionType}) => conditionType).filter((gate) => !isOpen(gate));
}

/** Reports whether all containers and sidecars of the pod are settled. */
function allReady(pod: Pod, {containerStatuses = [], initContainerStatuses = []}: PodStatus): boolean {
  return longRunningContainersOf(pod).every((container) => {
    const {name} = container;
    const status = findByName(containerStatuses, name) ?? findByName(initContainerStatuses, name);
    return status !== undefined && settled(pod, container, status);
  });
}

/** Reports whether the container is ready, or has succeeded and is not restarted. */
function settled(pod: Pod, container: Container, {ready, state}: ContainerStatus): boolean {
  return ready || (state?.terminated?.exitCode === 0 && !shouldRestartAfterExit(pod, container, 0));
}

function isSidecar(pod: Pod, name: string): boolean {
  const container = findByName(pod.spec.initContainers ?? [], name);
  return container !== undefined && isRestartableInitContainer(container);
}

/** Reports whether a container that exited with this code is restarted. */
function isRestarted(pod: Pod, name: string, exitCode: number): boolean {
  const container = findContainer(pod, name);
  return container !== undefined && shouldRestartAfterExit(pod, container, exitCode);
}

/**
 * Returns the first failed container among those that `counts` accepts: init containers first, then in the order of the
 * status.
 */
function firstFailed(
  status: PodStatus,
  counts: (name: string, exitCode: number) => boolean = () => true,
): ContainerExit | undefined {
  for (const {name, state} of [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
  ]) {
    const {exitCode = 0, reason} = state?.terminated ?? {};
    if (exitCode !== 0 && counts(name, exitCode))
      return {exitCode, container: name, ...(reason !== undefined && {exitReason: reason})};
  }
  return undefined;
}
