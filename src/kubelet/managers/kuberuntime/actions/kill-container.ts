import {findContainer} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {anySignal} from '../../../../base/async/any-signal.js';
import {findByName} from '../../../../base/by-name.js';
import type {Clock} from '../../../../base/clock.js';
import {messageOf} from '../../../../base/errors.js';
import {finishesWithin} from '../../../../base/async/deadline.js';
import {isNotFound, type ContainerId} from '../../../../cri/index.js';
import {
  createContainerEventRecorder,
  type ContainerKind,
  type EventRecorder,
  type EventSink,
} from '../../../contract/pod-event.js';
import type {LifecycleHook, RunHook} from '../../../contract/lifecycle-hook.js';
import type {ContainerToKill} from '../../../contract/pod-actions.js';
import type {KubeRuntimeService} from '../../../contract/kube-services.js';
import type {SyncResult} from '../../../contract/sync-result.js';
import {
  MINIMUM_GRACE_PERIOD_SECONDS,
  containerGracePeriodSeconds,
  remainingGracePeriodSeconds,
} from './grace-period.js';
import type {SyncContext} from '../sync-context.js';
import type {TerminationOrder} from './termination-order.js';

/** Maximum time for an exec hook to return after its container has exited, in ms. */
const EXEC_RETURN_MS = 1000;

/** Dependencies of killContainer and killPod. */
export interface KillContext {
  readonly runtime: KubeRuntimeService;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly runHook: RunHook;
  /** IP addresses of the pod's sandbox, for HTTP hooks. */
  readonly sandboxIps: readonly string[];
  /** Cancels waiting for hooks and for containers to stop. */
  readonly signal: AbortSignal;
}

/** Returns the part of a sync context that killing needs. */
export function createKillContext(
  {services, events, clock, runHook}: SyncContext,
  sandboxIps: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): KillContext {
  return {runtime: services.runtime, events, clock, runHook, sandboxIps, signal};
}

/** A container to kill. */
export interface KillRequest {
  readonly id: ContainerId;
  readonly name: string;
  /** Message of the Killing event; `Stopping container <name>` by default. */
  readonly message?: string;
  /** Reason of the kill; a failed probe may have its own grace period. */
  readonly reason?: ContainerToKill['reason'];
  /** Overrides the container's grace period, in seconds; with 0 no preStop hook runs. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Spec restored from annotations, for a container that the pod spec does not have (see restoreContainerSpec). */
  readonly restored?: Container;
  /** Order relative to the pod's other containers that are killed. */
  readonly order?: TerminationOrder | undefined;
}

/** Reports whether the pod has an init container of that name. */
export function isInitContainer(pod: Pod, name: string): boolean {
  return findByName(pod.spec.initContainers ?? [], name) !== undefined;
}

/**
 * Kills one container (kuberuntime killContainer): runs its preStop hook, waits for its turn, and stops it with the
 * rest of its grace period, at least 2 s. A container that does not exist counts as stopped. Rejects only with the
 * signal's reason.
 */
export async function killContainer(
  context: KillContext,
  pod: Pod,
  request: KillRequest,
): Promise<SyncResult> {
  const {id, name, message = `Stopping container ${name}`, order} = request;
  const {signal, clock} = context;
  const container = findContainer(pod, name) ?? request.restored;
  const events = eventRecorderFor(context, pod, name);
  events.normal('Killing', message);

  let grace = request.gracePeriodSeconds ?? containerGracePeriodSeconds(pod, container, request.reason);
  const hook = grace > 0 ? startPreStopHook(context, {pod, container, containerId: id}, events) : undefined;
  if (hook !== undefined)
    grace = await deductTime(clock, grace, async () =>
      finishesWithin(hook.done, grace * 1000, clock, signal),
    );
  if (order !== undefined)
    grace = await deductTime(clock, grace, async () => order.waitForTurn(name, grace, signal));
  const failure = await stop(context, request, Math.max(grace, MINIMUM_GRACE_PERIOD_SECONDS));
  if (failure === undefined) order?.containerTerminated(name);
  await hook?.finish();
  return failure ?? {action: 'KillContainer', target: name};
}

/** Returns the failed result if the container could not be stopped. */
async function stop(
  {runtime, signal}: KillContext,
  {id, name}: KillRequest,
  seconds: number,
): Promise<SyncResult | undefined> {
  try {
    await runtime.stopContainer({containerId: id, timeout: BigInt(seconds)}, {signal});
    return undefined;
  } catch (cause) {
    signal.throwIfAborted();
    return isNotFound(cause) ? undefined : failedKill(name, cause);
  }
}

function failedKill(target: string, cause: unknown): SyncResult {
  return {
    action: 'KillContainer',
    target,
    failure: {reason: 'KillContainerError', message: messageOf(cause), cause},
  };
}

function containerKindOf(pod: Pod, name: string): ContainerKind {
  if (isInitContainer(pod, name)) return 'initContainers';
  const isEphemeral = findByName(pod.spec.ephemeralContainers ?? [], name) !== undefined;
  return isEphemeral ? 'ephemeralContainers' : 'containers';
}

function eventRecorderFor({events}: KillContext, pod: Pod, name: string): EventRecorder {
  return createContainerEventRecorder(events, pod, containerKindOf(pod, name), name);
}

/** Runs `work` and returns the rest of a grace period after it, in seconds. */
async function deductTime(clock: Clock, seconds: number, work: () => Promise<unknown>): Promise<number> {
  const started = clock.monotonic();
  await work();
  return remainingGracePeriodSeconds(seconds, clock.monotonic() - started);
}

/** A running preStop hook. */
interface RunningHook {
  /** Resolves when the hook has finished. Rejects with the reason of the context's signal. */
  readonly done: Promise<void>;
  /**
   * Cancels the hook after its container has exited. An exec hook exits with the container; the runtime may report it
   * later.
   */
  readonly finish: () => Promise<void>;
}

/**
 * Starts a container's preStop hook, if it has one. A hook still running when its container exits has failed, unless it
 * is a sleep.
 */
function startPreStopHook(
  {runHook, sandboxIps, signal, clock}: KillContext,
  target: Pick<LifecycleHook, 'pod' | 'containerId'> & {readonly container: Container | undefined},
  events: EventRecorder,
): RunningHook | undefined {
  const {container} = target;
  const handler = container?.lifecycle?.preStop;
  if (container === undefined || handler === undefined) return undefined;
  const exited = new AbortController();
  const run = async (): Promise<void> => {
    const hook = {...target, container, handler, sandboxIps};
    using either = anySignal(signal, exited.signal);
    const failure = await runHook(hook, either.signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!exited.signal.aborted) throw error;
      return handler.sleep === undefined ? 'the container exited first' : undefined;
    });
    if (failure !== undefined) events.warning('FailedPreStopHook', 'PreStopHook failed');
  };
  const done = run();
  const finish = async (): Promise<void> => {
    if (handler.exec !== undefined) await finishesWithin(done, EXEC_RETURN_MS, clock, signal);
    exited.abort();
    await done;
  };
  return {done, finish};
}
