import type {Container, Pod} from '../../api/v1.js';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import {doneWithin} from '../../base/time-limit.js';
import {isNotFound, type ContainerId} from '../../cri/index.js';
import {containerEvents, type ContainerEvents, type EventSink} from '../container/events.js';
import type {LifecycleHook, RunHook} from '../container/lifecycle-hook.js';
import type {ContainerToKill} from '../container/pod-actions.js';
import type {KubeRuntimeService} from '../container/services.js';
import type {SyncResult} from '../container/sync-result.js';
import {MINIMUM_GRACE_PERIOD_SECONDS, ownGracePeriod, remainingGrace} from './grace-period.js';
import type {SyncContext} from './sync-context.js';
import type {TerminationOrder} from './termination-order.js';

/** How soon the runtime tells that a command has ended with its container. */
const EXEC_END_MS = 1000;

/** With what containers are killed. */
export interface KillContext {
  readonly runtime: KubeRuntimeService;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly runHook: RunHook;
  /** Of the pod's sandbox, for HTTP hooks. */
  readonly sandboxIps: readonly string[];
  /** Ends the wait for hooks and for containers to stop. */
  readonly signal: AbortSignal;
}

/** The part of a sync's context that killing takes. */
export function killContext(
  {services, events, clock, runHook}: SyncContext,
  sandboxIps: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): KillContext {
  return {runtime: services.runtime, events, clock, runHook, sandboxIps, signal};
}

/** One container to stop. */
export interface KillRequest {
  readonly id: ContainerId;
  readonly name: string;
  /** The text of the Killing event; the kubelet's `Stopping container x` unless given. */
  readonly message?: string;
  /** Why, when its own grace period may depend on that. */
  readonly reason?: ContainerToKill['reason'];
  /** Replaces its own grace period, in seconds; with none there is no preStop hook. */
  readonly gracePeriodSeconds?: number | undefined;
  /** What it is, when its pod doesn't say: the manifest is gone. */
  readonly restored?: Container;
  /** When it may end, among others of its pod that end too. */
  readonly order?: TerminationOrder | undefined;
}

/** The container of that name, of either kind. */
export function containerOf({spec}: Pod, name: string): Container | undefined {
  return [...spec.containers, ...(spec.initContainers ?? [])].find((container) => container.name === name);
}

/** True when a container of that name is one of the pod's init containers. */
export function isInitContainer(pod: Pod, name: string): boolean {
  return pod.spec.initContainers?.some((container) => container.name === name) ?? false;
}

/**
 * Stops one container (kuberuntime killContainer): runs its preStop hook, waits for its turn, and stops it with what is
 * left of its grace period, at least 2 s. A container that is gone already counts as stopped. Only aborting the signal
 * rejects.
 */
export async function killContainer(
  context: KillContext,
  pod: Pod,
  request: KillRequest,
): Promise<SyncResult> {
  const {id, name, message = `Stopping container ${name}`, order} = request;
  const {signal, clock} = context;
  const container = containerOf(pod, name) ?? request.restored;
  const events = eventsOf(context, pod, name);
  events.normal('Killing', message);

  let grace = request.gracePeriodSeconds ?? ownGracePeriod(pod, container, request.reason);
  const hook = grace > 0 ? preStop(context, {pod, container, containerId: id}, events) : undefined;
  if (hook !== undefined)
    grace = await spend(clock, grace, async () => doneWithin(hook.done, grace * 1000, clock, signal));
  if (order !== undefined) grace = await spend(clock, grace, async () => order.turn(name, grace, signal));
  const failure = await stop(context, request, Math.max(grace, MINIMUM_GRACE_PERIOD_SECONDS));
  if (failure === undefined) order?.ended(name);
  await hook?.end();
  return failure ?? {action: 'KillContainer', target: name};
}

/** Gives why it could not be stopped. */
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

function eventsOf({events}: KillContext, pod: Pod, name: string): ContainerEvents {
  return containerEvents(events, pod, isInitContainer(pod, name) ? 'initContainers' : 'containers', name);
}

/** What something leaves of a grace period. */
async function spend(clock: Clock, seconds: number, work: () => Promise<unknown>): Promise<number> {
  const started = clock.now();
  await work();
  return remainingGrace(seconds, clock.now() - started);
}

/** A preStop hook under way. */
interface RunningHook {
  /** Rejects with the reason of the context's signal. */
  readonly done: Promise<void>;
  /** Ends it when its container has ended; a command ends with that, which the runtime tells a moment later. */
  readonly end: () => Promise<void>;
}

/** Runs a container's preStop hook, if it has one. A hook that outlasts its container has failed, unless it only slept. */
function preStop(
  {runHook, sandboxIps, signal, clock}: KillContext,
  target: Pick<LifecycleHook, 'pod' | 'containerId'> & {readonly container: Container | undefined},
  events: ContainerEvents,
): RunningHook | undefined {
  const {container} = target;
  const handler = container?.lifecycle?.preStop;
  if (container === undefined || handler === undefined) return undefined;
  const ended = new AbortController();
  const run = async (): Promise<void> => {
    const hook = {...target, container, handler, sandboxIps};
    const failure = await runHook(hook, AbortSignal.any([signal, ended.signal])).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!ended.signal.aborted) throw error;
      return handler.sleep === undefined ? 'outlasted its container' : undefined;
    });
    if (failure !== undefined) events.warning('FailedPreStopHook', 'PreStopHook failed');
  };
  const done = run();
  const end = async (): Promise<void> => {
    if (handler.exec !== undefined) await doneWithin(done, EXEC_END_MS, clock, signal);
    ended.abort();
    await done;
  };
  return {done, end};
}
