import type {ContainerStatus, PodStatus} from '../api/v1-status.js';
import {KcriError, messageOf} from '../base/errors.js';
import {formatDuration} from '../format/duration.js';
import {
  KeptByKubeletError,
  OtherRuntimeError,
  PodError,
  SupersededError,
  type PodOutcome,
  type PodRef,
  type WaitFor,
} from '../kubelet/index.js';
import {EXIT} from './exit-codes.js';
import {exitCodeOf} from './render-error.js';
import {isPending} from './sync-view/model.js';
import {podTitle} from './sync-view/text.js';

/** The exit code of one pod's sync: a container's own only where its end was waited for. */
export function exitCodeFor(outcome: PodOutcome, wait: WaitFor): number {
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

/** True when the pod may still be on its way to what was wanted. */
export function isUnfinished(kind: PodOutcome['kind']): boolean {
  return kind === 'failed' || kind === 'gated' || kind === 'timeout' || kind === 'interrupted';
}

/** What the person should know of a pod that is not as it was wanted. */
export function explain(
  outcome: PodOutcome,
  wait: WaitFor,
  timeoutMs: number | undefined,
): readonly unknown[] {
  switch (outcome.kind) {
    case 'ready':
      return [];
    case 'complete':
    case 'broken':
      return outcome.exitCode === 0 ? [] : [exited(outcome, wait)];
    case 'gated':
      return [gated(outcome)];
    case 'timeout':
      return [timedOut(outcome, wait, timeoutMs ?? 0)];
    case 'interrupted':
      return [outcome.reason];
    case 'failed':
      return [outcome.error];
  }
}

/** The pod was not made here or is not this process's any more: it stays as it is, and the error says all. */
export function isOfOthers(error: unknown): boolean {
  return (
    error instanceof SupersededError ||
    error instanceof OtherRuntimeError ||
    error instanceof KeptByKubeletError
  );
}

/** Tells that a pod is left behind, in what state, and how it is ended. */
export function leftError(pod: PodRef, text: string): PodError {
  return new PodError(pod, text, {hint: `"kcri delete ${podTitle(pod)}" ends it`});
}

type Ended = PodOutcome & {readonly kind: 'complete' | 'broken'};

function exited(outcome: Ended, wait: WaitFor): PodError {
  const {pod, exitCode, container} = outcome;
  const code = wait === 'complete' ? exitCode : EXIT.failed;
  if (outcome.kind === 'complete' && outcome.problem !== undefined)
    return new PodError(pod, outcome.problem, {
      exitCode: code,
      hint: `"kcri delete ${podTitle(pod)}" removes it`,
    });
  if (container === undefined) return new PodError(pod, 'the pod has failed', {exitCode: code});
  return new PodError(pod, `container "${container}" exited with code ${exitCode}`, {
    exitCode: code,
    hint: `"kcri logs ${podTitle(pod)}/${container}" shows what it said`,
  });
}

function gated({pod, gates}: PodOutcome & {readonly kind: 'gated'}): PodError {
  const names = gates.map((gate) => `"${gate}"`).join(', ');
  const what = gates.length === 1 ? 'readiness gate' : 'readiness gates';
  return new PodError(
    pod,
    `its containers are ready, but the pod never is: nothing on this node opens its ${what} ${names}`,
    {hint: 'leave out spec.readinessGates: what opens them runs in a cluster'},
  );
}

function timedOut(
  {pod, status, error}: PodOutcome & {readonly kind: 'timeout'},
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

/** What each container is waited for, where that tells anything. */
function unsettled(status: PodStatus | undefined, wait: WaitFor): readonly string[] {
  const told = (kind: string, containers: readonly ContainerStatus[] = []): readonly string[] =>
    containers.flatMap((container) => {
      const text = unsettledState(container, wait);
      return text === undefined ? [] : [`${kind} "${container.name}": ${text}`];
    });
  return [
    ...told('init container', status?.initContainerStatuses),
    ...told('container', status?.containerStatuses),
  ];
}

function unsettledState({state = {}}: ContainerStatus, wait: WaitFor): string | undefined {
  const {waiting, running, terminated} = state;
  if (waiting?.reason !== undefined && !isPending(waiting.reason))
    return [waiting.reason, waiting.message].filter((text) => text !== undefined && text !== '').join(': ');
  if (running !== undefined) return wait === 'complete' ? 'still running' : undefined;
  return terminated === undefined || terminated.exitCode === 0
    ? undefined
    : `exited with code ${terminated.exitCode}`;
}
