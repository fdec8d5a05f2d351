import {isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/v1.js';
import type {ContainerStatus, PodStatus} from '../../api/v1-status.js';
import {failuresOf, type SyncFailure, type SyncResult} from '../container/sync-result.js';
import {containerOf} from '../kuberuntime/kill-container.js';
import {restartsAfter} from '../kuberuntime/restart-policy.js';
import type {SyncPass} from '../pod-syncer.js';

/** What `kcri sync` waits for. */
export type WaitFor = 'ready' | 'complete';

/** How a foreground sync is to end. */
export interface JudgeOptions {
  readonly wait: WaitFor;
  /** Keep trying what fails, with the kubelet's back-off: true when there is a time limit. */
  readonly retry: boolean;
}

/** What a pass means for whoever waits. */
export type Verdict =
  | {readonly kind: 'ready'}
  /**
   * The pod has ended; `exitCode` is that of its first failed container, `container`; that of a sidecar, which is
   * stopped at the end, only where nothing else has failed.
   */
  | {
      readonly kind: 'complete';
      readonly exitCode: number;
      readonly container: string | undefined;
      /** Why the kubelet itself has ended the pod. */
      readonly problem?: string;
    }
  /** A container has failed for good, so that the pod can't become ready any more. */
  | {readonly kind: 'broken'; readonly exitCode: number; readonly container: string}
  /** The containers are ready, and the pod is not: its readiness gates, which others open, are closed. */
  | {readonly kind: 'gated'; readonly gates: readonly string[]}
  | {readonly kind: 'failed'; readonly result: SyncResult & {readonly failure: SyncFailure}}
  /** Look again. */
  | {readonly kind: 'wait'};

/** Decides whether a foreground sync goes on after a pass. */
export function judge(pod: Pod, pass: SyncPass, options: JudgeOptions): Verdict {
  return (
    ended(pod, pass.status) ??
    failedStep(pass.results, options) ??
    readiness(pod, pass, options) ?? {kind: 'wait'}
  );
}

function ended(pod: Pod, status: PodStatus): Verdict | undefined {
  if (status.phase === 'Succeeded') return {kind: 'complete', exitCode: 0, container: undefined};
  if (status.phase !== 'Failed') return undefined;
  const failed = firstFailed(status, (name) => !isSidecar(pod, name)) ?? firstFailed(status);
  const {reason, message} = status;
  return {
    kind: 'complete',
    exitCode: failed?.exitCode ?? 1,
    container: failed?.name,
    ...(reason !== undefined && {problem: message === undefined ? reason : `${reason}: ${message.trim()}`}),
  };
}

function failedStep(results: readonly SyncResult[], {wait, retry}: JudgeOptions): Verdict | undefined {
  if (retry) return undefined;
  // A container that runs to its end may crash and be started again: that is what complete waits for.
  const tolerated = ({reason, transient = false}: SyncFailure): boolean =>
    transient || (wait === 'complete' && reason === 'CrashLoopBackOff');
  const result = failuresOf(results).find(({failure}) => !tolerated(failure));
  return result === undefined ? undefined : {kind: 'failed', result};
}

function readiness(pod: Pod, {status, results}: SyncPass, {wait}: JudgeOptions): Verdict | undefined {
  if (wait !== 'ready') return undefined;
  const failed = firstFailed(status, (name, exitCode) => !isRestarted(pod, name, exitCode));
  if (failed !== undefined) return {kind: 'broken', exitCode: failed.exitCode, container: failed.name};
  if (failuresOf(results).length > 0 || !allReady(pod, status)) return undefined;
  const gates = closedGates(pod, status);
  return gates.length === 0 ? {kind: 'ready'} : {kind: 'gated', gates};
}

/** The types of the conditions that must be True too for the pod to be ready (GeneratePodReadyCondition). */
function closedGates({spec}: Pod, {conditions = []}: PodStatus): readonly string[] {
  const isOpen = (gate: string): boolean =>
    conditions.some(({type, status}) => type === gate && status === 'True');
  return (spec.readinessGates ?? []).map(({conditionType}) => conditionType).filter((gate) => !isOpen(gate));
}

/** The pod's containers and its sidecars are. */
function allReady(pod: Pod, {containerStatuses = [], initContainerStatuses = []}: PodStatus): boolean {
  const sidecars = (pod.spec.initContainers ?? []).filter(isRestartableInit);
  return [...pod.spec.containers, ...sidecars].every((container) =>
    [...containerStatuses, ...initContainerStatuses].some(
      (status) => status.name === container.name && settled(pod, container, status),
    ),
  );
}

/** Running and ready, or ended well where nothing starts it again. */
function settled(pod: Pod, container: Container, {ready, state}: ContainerStatus): boolean {
  return ready || (state?.terminated?.exitCode === 0 && !restartsAfter(pod, container, 0));
}

function isSidecar({spec}: Pod, name: string): boolean {
  return (spec.initContainers ?? []).some(
    (container) => container.name === name && isRestartableInit(container),
  );
}

/** Whether what ended with that code comes again. */
function isRestarted(pod: Pod, name: string, exitCode: number): boolean {
  const container = containerOf(pod, name);
  return container !== undefined && restartsAfter(pod, container, exitCode);
}

/** The first container that failed, of those that count: init containers first, then in the status's order. */
function firstFailed(
  status: PodStatus,
  counts: (name: string, exitCode: number) => boolean = () => true,
): {readonly exitCode: number; readonly name: string} | undefined {
  for (const {name, state} of [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
  ]) {
    const exitCode = state?.terminated?.exitCode ?? 0;
    if (exitCode !== 0 && counts(name, exitCode)) return {exitCode, name};
  }
  return undefined;
}
