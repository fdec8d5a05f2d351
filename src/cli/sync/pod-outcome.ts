import type {ContainerStatus, PodStatus} from '../../api/types/v1-status.js';
import {KcriError, messageOf} from '../../base/errors.js';
import {formatDuration} from '../../format/duration.js';
import {
  ManagedByKubeletError,
  OtherRuntimeError,
  PodError,
  SupersededError,
  type ForegroundSyncResult,
  type PodRef,
  type WaitFor,
} from '../../kubelet/index.js';
import {EXIT} from '../exit-codes.js';
import {exitCodeOf} from '../output/render-error.js';
import {isPendingReason} from './view/pod-view.js';
import {formatPodTitle} from './view/sync-text.js';

/** Returns the exit code for a pod; it is that of a container only with `--wait=complete`. */
export function podExitCode(outcome: ForegroundSyncResult, wait: WaitFor): number {
  switch (outcome.kind) {
    case 'ready':
      return EXIT.ok;
    case 'complete':
      return wait === 'complete' || outcome.exitCode === 0 ? outcome.exitCode : EXIT.failed;
    case 'timeout':
      return EXIT.timedOut;
    case 'interrupted':
      return exitCodeOf(outcome.reason);
    case 'broken':
    case 'gated':
    case 'failed':
      return EXIT.failed;
  }
}

/** Reports whether the pod has not reached a final state. */
export function isUnfinished(kind: ForegroundSyncResult['kind']): boolean {
  return kind === 'failed' || kind === 'gated' || kind === 'timeout' || kind === 'interrupted';
}

/** Returns the errors to report for a pod that has not met the wait condition. */
export function outcomeErrors(
  outcome: ForegroundSyncResult,
  wait: WaitFor,
  timeoutMs: number | undefined,
): readonly unknown[] {
  switch (outcome.kind) {
    case 'ready':
      return [];
    case 'complete':
    case 'broken':
      return outcome.exitCode === 0 ? [] : [createExitError(outcome, wait)];
    case 'gated':
      return [createGatedError(outcome)];
    case 'timeout':
      return [createTimeoutError(outcome, wait, timeoutMs ?? 0)];
    case 'interrupted':
      return [outcome.reason];
    case 'failed':
      return [outcome.error];
  }
}

/** Reports whether the pod belongs to another process or runtime and must not be changed. */
export function isOwnershipError(error: unknown): boolean {
  return (
    error instanceof SupersededError ||
    error instanceof OtherRuntimeError ||
    error instanceof ManagedByKubeletError
  );
}

/** Returns an error about a pod that is not deleted, with a hint on how to delete it. */
export function createPodLeftError(pod: PodRef, text: string): PodError {
  return new PodError(pod, text, {hint: `run "kcri delete ${formatPodTitle(pod)}" to delete it`});
}

type Ended = ForegroundSyncResult & {readonly kind: 'complete' | 'broken'};

function createExitError(outcome: Ended, wait: WaitFor): PodError {
  const {pod, exitCode, container} = outcome;
  const code = wait === 'complete' ? exitCode : EXIT.failed;
  if (outcome.kind === 'complete' && outcome.problem !== undefined)
    return new PodError(pod, outcome.problem, {
      exitCode: code,
      hint: `run "kcri delete ${formatPodTitle(pod)}" to delete it`,
    });
  if (container === undefined) return new PodError(pod, 'the pod has failed', {exitCode: code});
  return new PodError(pod, `container "${container}" exited with code ${exitCode}`, {
    exitCode: code,
    hint: `run "kcri logs ${formatPodTitle(pod)}/${container}" to print its log`,
  });
}

function createGatedError({pod, gates}: ForegroundSyncResult & {readonly kind: 'gated'}): PodError {
  const names = gates.map((gate) => `"${gate}"`).join(', ');
  const what = gates.length === 1 ? 'readiness gate' : 'readiness gates';
  return new PodError(
    pod,
    `all containers are ready, but the pod cannot become ready: nothing on this node sets the ${what} ${names}`,
    {hint: 'remove spec.readinessGates; readiness gates require a controller in a cluster'},
  );
}

function createTimeoutError(
  {pod, status, error}: ForegroundSyncResult & {readonly kind: 'timeout'},
  wait: WaitFor,
  timeoutMs: number,
): PodError {
  const limit = formatDuration(BigInt(Math.round(timeoutMs * 1e6)));
  const causes = [...(error === undefined ? [] : [problemOf(error)]), ...unsettled(status, wait)];
  return new PodError(pod, [`not ${wait} after ${limit}`, ...new Set(causes)].join('; '), {
    exitCode: EXIT.timedOut,
    cause: error,
    hint: error instanceof KcriError ? error.hint : undefined,
  });
}

function problemOf(error: unknown): string {
  return error instanceof PodError ? error.problem : messageOf(error);
}

/** Returns why containers have not met the wait condition, where a reason is known. */
function unsettled(status: PodStatus | undefined, wait: WaitFor): readonly string[] {
  const describe = (kind: string, containers: readonly ContainerStatus[] = []): readonly string[] =>
    containers.flatMap((container) => {
      const text = unsettledState(container, wait);
      return text === undefined ? [] : [`${kind} "${container.name}": ${text}`];
    });
  return [
    ...describe('init container', status?.initContainerStatuses),
    ...describe('container', status?.containerStatuses),
  ];
}

function unsettledState({state = {}}: ContainerStatus, wait: WaitFor): string | undefined {
  const {waiting, running, terminated} = state;
  if (waiting?.reason !== undefined && !isPendingReason(waiting.reason))
    return [waiting.reason, waiting.message].filter((text) => text !== undefined && text !== '').join(': ');
  if (running !== undefined) return wait === 'complete' ? 'still running' : undefined;
  return terminated === undefined || terminated.exitCode === 0
    ? undefined
    : `exited with code ${terminated.exitCode}`;
}
