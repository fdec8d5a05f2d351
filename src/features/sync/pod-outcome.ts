import type {ContainerStatus, PodStatus} from '../../api/types/v1-status.js';
import {KcriError, messageOf} from '../../base/errors.js';
import {formatAgeSince} from '../../format/age.js';
import {formatDuration} from '../../format/duration.js';
import {
  ManagedByKubeletError,
  OtherRuntimeError,
  PodError,
  SupersededError,
  type FailedSync,
  type ForegroundSyncResult,
  type PodRef,
  type WaitFor,
} from '../../kubelet/index.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import {exitCodeOf} from '../../cli/output/render-error.js';
import {describeCrash, describeExit, isBackingOff, lastExitOf} from './container-exit.js';
import {isPendingReason} from './view/pod-view.js';
import {formatPodTitle} from '../pods/pod-title.js';

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

/** Options of a sync that its errors depend on. */
export interface OutcomeErrorOptions {
  readonly wait: WaitFor;
  readonly timeoutMs: number | undefined;
  /** True if the pods are deleted: hints must not refer to them. */
  readonly remove: boolean;
  /** True if the answer of `kcri why` follows, which replaces the hints about pods that exist. */
  readonly isExplained: boolean;
  /** True if the pods are on kcri's own runtime, into which "kcri runtime load" loads images. */
  readonly isPrivateRuntime: boolean;
  /** Last probe failures of the containers of each pod. */
  readonly probeFailures: {
    readonly of: (outcome: Pick<ForegroundSyncResult, 'pod' | 'status'>) => readonly string[];
  };
}

/** Returns the errors to report for a pod that has not met the wait condition. */
export function outcomeErrors(
  outcome: ForegroundSyncResult,
  options: OutcomeErrorOptions,
): readonly unknown[] {
  switch (outcome.kind) {
    case 'ready':
      return [];
    case 'complete':
    case 'broken':
      return outcome.exitCode === 0 ? [] : [createExitError(outcome, options)];
    case 'gated':
      return [createGatedError(outcome)];
    case 'timeout':
      return [createTimeoutError(outcome, options)];
    case 'interrupted':
      return [outcome.reason];
    case 'failed':
      return [explainError(outcome, options)];
  }
}

/** Describes a pod that had terminated before the sync. */
export function describeEarlierRun({status}: Pick<ForegroundSyncResult, 'status'>, nowMs: number): string {
  const finishedAt = (status?.containerStatuses ?? [])
    .flatMap(({state}) => state?.terminated?.finishedAt ?? [])
    .toSorted()
    .at(-1);
  const when = finishedAt === undefined ? '' : `, ${formatAgeSince(finishedAt, nowMs)} ago`;
  return `already ran${when}; use --replace to run it again`;
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

function createExitError(outcome: Ended, {wait, remove}: OutcomeErrorOptions): PodError {
  const {pod, exitCode, container, exitReason} = outcome;
  const code = wait === 'complete' ? exitCode : EXIT.failed;
  if (outcome.kind === 'complete' && outcome.problem !== undefined)
    return new PodError(pod, outcome.problem, {
      exitCode: code,
      hint: remove ? undefined : `run "kcri delete ${formatPodTitle(pod)}" to delete it`,
    });
  if (container === undefined) return new PodError(pod, 'the pod has failed', {exitCode: code});
  return new PodError(pod, `container "${container}" ${describeExit({exitCode, reason: exitReason})}`, {
    exitCode: code,
    hint: remove ? undefined : logHint(pod, container),
  });
}

function logHint(pod: PodRef, container: string): string {
  return `run "kcri logs ${formatPodTitle(pod)}/${container}" to print its log`;
}

/** Returns the error of a sync with what users can do; of a crashing container it shows the exit, not the back-off. */
function explainError(
  {
    pod,
    status,
    error,
    removed,
  }: Pick<ForegroundSyncResult, 'pod' | 'status'> & Pick<FailedSync, 'error' | 'removed'>,
  {remove, isPrivateRuntime}: OutcomeErrorOptions,
): unknown {
  if (!(error instanceof PodError)) return error;
  if (isPrivateRuntime && IMAGE_REASONS.has(error.reason)) return withLoadHint(error);
  if (error.reason !== 'CrashLoopBackOff') return error;
  const {initContainerStatuses = [], containerStatuses = []} = status ?? {};
  const crashed = [...initContainerStatuses, ...containerStatuses].find(isBackingOff);
  const crash = crashed && describeCrash(crashed);
  if (crashed === undefined || crash === undefined) return error;
  return new PodError(pod, `container "${crashed.name}": CrashLoopBackOff: ${crash}`, {
    cause: error,
    reason: error.reason,
    hint: crashHint(pod, crashed, remove || removed),
  });
}

const IMAGE_REASONS: ReadonlySet<PodError['reason']> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
]);

function withLoadHint(error: PodError): PodError {
  const {pod, problem, reason, cause, hint} = error;
  const load = 'to load an image without a registry, use "kcri runtime load FILE.tar"';
  return new PodError(pod, problem, {reason, cause, hint: hint === undefined ? load : `${hint}; ${load}`});
}

function crashHint(pod: PodRef, crashed: ContainerStatus, removed: boolean): string | undefined {
  if (lastExitOf(crashed)?.exitCode === 0)
    return 'for a container that completes, set restartPolicy to OnFailure or Never and use --wait=complete';
  return removed ? undefined : logHint(pod, crashed.name);
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
  outcome: ForegroundSyncResult & {readonly kind: 'timeout'},
  options: OutcomeErrorOptions,
): PodError {
  const {pod, status} = outcome;
  const {wait, timeoutMs = 0, probeFailures} = options;
  const limit = formatDuration(BigInt(Math.round(timeoutMs * 1e6)));
  const error = explainError({...outcome, removed: false}, options);
  const causes = [
    ...(error === undefined ? [] : [problemOf(error)]),
    ...unsettled(status, wait),
    ...probeFailures.of(outcome),
  ];
  return new PodError(pod, [`not ${wait} after ${limit}`, ...new Set(causes)].join('; '), {
    exitCode: EXIT.timedOut,
    cause: error,
    hint: error instanceof KcriError && (options.remove || !options.isExplained) ? error.hint : undefined,
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

function unsettledState(status: ContainerStatus, wait: WaitFor): string | undefined {
  const {waiting, running, terminated} = status.state ?? {};
  const crash = describeCrash(status);
  if (crash !== undefined) return `CrashLoopBackOff: ${crash}`;
  if (waiting?.reason !== undefined && !isPendingReason(waiting.reason))
    return [waiting.reason, waiting.message].filter((text) => text !== undefined && text !== '').join(': ');
  if (running !== undefined) return wait === 'complete' ? 'still running' : undefined;
  return terminated === undefined || terminated.exitCode === 0 ? undefined : describeExit(terminated);
}
