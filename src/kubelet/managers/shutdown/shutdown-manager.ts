import {join} from 'node:path';
import type {Pod} from '../../../api/types/v1-pod.js';
import {aborted} from '../../../base/async/aborted.js';
import {finishesWithin} from '../../../base/async/deadline.js';
import {pause} from '../../../base/async/pause.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import type {FileLogger} from '../../../base/logger.js';
import {formatDuration, formatGoSeconds} from '../../../format/duration.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager, NodeManagerServices} from '../../contract/node-manager.js';
import {namespacedName, podRef} from '../../contract/pod-ref.js';
import type {Rejection} from '../../contract/pod-rejection.js';
import type {ShutdownPolicy} from '../../contract/resources/shutdown-policy.js';
import {Logind, type LogindPlace} from './logind.js';
import {
  groupByPriority,
  requestedSeconds,
  shutdownGraceSeconds,
  type ShutdownGroup,
} from './shutdown-groups.js';
import {
  loadShutdownTimes,
  SHUTDOWN_STATE_FILE,
  storeShutdownTimes,
  type ShutdownTimes,
} from './shutdown-state.js';

/** Pause after the bus was lost, in ms (dbusReconnectPeriod). */
const RECONNECT_MS = 1000;
/** Pauses until logind has read its configuration again, in ms. */
const RELOAD_PAUSES_MS = [0, 100, 200, 400, 800];
/** Period in which it is checked whether pods have been released, in ms. */
const RELEASE_POLL_MS = 300;

const REASON = 'Terminated';
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';
const REJECTION: Rejection = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
  hint: 'run the pod when the node is up again',
};

/** Creates the manager that stops the pods before the node shuts down; undefined if no time is configured for that. */
export function createShutdownManager(
  {shutdown, rootDir}: Pick<NodeFacts, 'shutdown' | 'rootDir'>,
  place: LogindPlace = {},
): NodeManager | undefined {
  return shutdown === undefined || shutdown.periods.length === 0
    ? undefined
    : new ShutdownManager(shutdown, join(rootDir, SHUTDOWN_STATE_FILE), place);
}

/**
 * Delays shutdowns of the node with an inhibitor of logind, and stops the pods by their priorities when one is announced
 * (nodeshutdown managerImpl). Without logind when the kubelet starts, nothing happens.
 */
class ShutdownManager implements NodeManager {
  readonly name = 'node shutdown';
  readonly admitsLast = true;
  readonly reconcile: Required<NodeManager>['reconcile'] = {
    periodMs: RECONNECT_MS,
    run: async (signal) => {
      await this.#watch(signal);
    },
  };
  readonly admit = async (): Promise<Rejection | undefined> => (this.#isShuttingDown ? REJECTION : undefined);
  readonly #policy: ShutdownPolicy;
  readonly #statePath: string;
  readonly #place: LogindPlace;
  #services: NodeManagerServices | undefined;
  #lock: Disposable | undefined;
  #isShuttingDown = false;
  /** True when logind was there once. */
  #hasStarted = false;

  constructor(policy: ShutdownPolicy, statePath: string, place: LogindPlace) {
    this.#policy = policy;
    this.#statePath = statePath;
    this.#place = place;
  }

  async start(services: NodeManagerServices): Promise<void> {
    this.#services = services;
    const {requestedNanos, criticalNanos, periods} = this.#policy;
    this.#logger.info('Creating node shutdown manager', {
      shutdownGracePeriodRequested: formatDuration(requestedNanos),
      shutdownGracePeriodCriticalPods: formatDuration(criticalNanos),
      shutdownGracePeriodByPodPriority: periods.map(({priority, shutdownGracePeriodSeconds}) => ({
        Priority: priority,
        ShutdownGracePeriodSeconds: shutdownGracePeriodSeconds,
      })),
    });
    await this.#restoreTimes();
  }

  get nodeErrors(): readonly string[] {
    return this.#isShuttingDown ? ['node is shutting down'] : [];
  }

  get #parts(): NodeManagerServices {
    if (this.#services === undefined) throw new Error('the node shutdown manager was not started');
    return this.#services;
  }

  get #logger(): FileLogger {
    return this.#parts.logger.forFile('shutdown-manager.ts');
  }

  /** Handles announcements until the bus is lost. Waits for the signal if there was never a logind. */
  async #watch(signal: AbortSignal): Promise<void> {
    if (this.#hasStarted) this.#logger.info('Restarting watch for node shutdown events', {}, 1);
    let logind: Logind | undefined;
    try {
      logind = await Logind.connect(this.#place, signal);
      // First, so that no announcement is missed once the lock is held.
      await logind.watch(signal);
      await this.#delayShutdowns(logind, signal);
    } catch (error) {
      logind?.[Symbol.dispose]();
      signal.throwIfAborted();
      rethrowUnexpected(error);
      await this.#reportMissing(error, signal);
      return;
    }
    this.#hasStarted = true;
    try {
      await this.#handleAnnouncements(logind, signal);
    } finally {
      logind[Symbol.dispose]();
      if (signal.aborted) this.#release();
    }
  }

  async #reportMissing(error: unknown, signal: AbortSignal): Promise<void> {
    if (this.#hasStarted) {
      this.#logger.error(error, 'Unable to watch the node for shutdown events');
      return;
    }
    this.#logger.error(error, 'Failed to start node shutdown manager');
    await aborted(signal);
  }

  /** Makes logind wait for as long as the pods need (managerImpl start). */
  async #delayShutdowns(logind: Logind, signal: AbortSignal): Promise<void> {
    const seconds = requestedSeconds(this.#policy.periods);
    if ((await logind.inhibitDelayMs(signal)) < seconds * 1000)
      await this.#raiseInhibitDelay(logind, seconds, signal);
    await this.#inhibit(logind, signal);
  }

  async #raiseInhibitDelay(logind: Logind, seconds: number, signal: AbortSignal): Promise<void> {
    try {
      await logind.overrideInhibitDelay(seconds);
    } catch (cause) {
      rethrowUnexpected(cause);
      throw new SystemError(`unable to override inhibit delay by shutdown manager: ${messageOf(cause)}`, {
        cause,
      });
    }
    await logind.reload(signal);
    let delayMs = 0;
    for (const pauseMs of RELOAD_PAUSES_MS) {
      if (pauseMs > 0) await pause(this.#parts.clock, pauseMs, signal);
      delayMs = await logind.inhibitDelayMs(signal);
      if (delayMs >= seconds * 1000) return;
    }
    throw new SystemError(
      `node shutdown manager was timed out after ${RELOAD_PAUSES_MS.length} attempts waiting for logind InhibitDelayMaxSec to update to ${formatGoSeconds(seconds)} (ShutdownGracePeriod), current value is ${formatGoSeconds(delayMs / 1000)}`,
    );
  }

  async #inhibit(logind: Logind, signal: AbortSignal): Promise<void> {
    const lock = await logind.inhibit(signal);
    this.#release();
    this.#lock = lock;
  }

  #release(): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }

  async #handleAnnouncements(logind: Logind, signal: AbortSignal): Promise<void> {
    for (;;) {
      const isActive = await logind.nextAnnouncement(signal);
      if (isActive === undefined) {
        this.#logger.error(undefined, 'Ended to watching the node for shutdown events');
        return;
      }
      const what = isActive ? 'shutdown event' : 'shutdown cancellation';
      this.#parts.nodeEvent({
        type: 'Normal',
        reason: 'Shutdown',
        message: `Shutdown manager detected ${what}`,
      });
      this.#isShuttingDown = isActive;
      if (isActive) await this.#shutDown(signal);
      else await this.#inhibitAgain(logind, signal);
    }
  }

  async #inhibitAgain(logind: Logind, signal: AbortSignal): Promise<void> {
    try {
      await this.#inhibit(logind, signal);
    } catch (error) {
      signal.throwIfAborted();
      rethrowUnexpected(error);
      this.#logger.error(error, 'Failed to delay the next shutdown of the node');
    }
  }

  /** Stops all pods, and lets the shutdown go on (processShutdownEvent). */
  async #shutDown(signal: AbortSignal): Promise<void> {
    const {activePods, clock, nodeStatusChanged} = this.#parts;
    nodeStatusChanged();
    const startedAt = clock.now();
    try {
      const groups = groupByPriority(this.#policy.periods, activePods());
      await this.#record({startedAt, endedAt: undefined});
      for (const group of groups) if (group.pods.length > 0) await this.#stopGroup(group, signal);
      await this.#record({startedAt, endedAt: clock.now()});
    } finally {
      this.#release();
      this.#logger.info(
        'Shutdown manager completed processing shutdown event, node will shutdown shortly',
        {},
        1,
      );
    }
  }

  /** Stops the pods of a group, and waits for them until its period is over (killPods). */
  async #stopGroup(group: ShutdownGroup, signal: AbortSignal): Promise<void> {
    const {clock} = this.#parts;
    const {priority, shutdownGracePeriodSeconds: gracePeriod} = group;
    const stopped = Promise.all(
      group.pods.map(async (pod) => {
        await this.#stop(pod, group, signal);
      }),
    );
    const isDone = await finishesWithin(stopped, gracePeriod * 1000, clock, signal);
    const message = isDone
      ? 'Done waiting for all pods in group to terminate'
      : 'Shutdown manager pod killing time out';
    this.#logger.info(message, {gracePeriod, priority}, 1);
  }

  /** Stops a pod and waits until it is released. Never rejects. */
  async #stop(pod: Pod, group: ShutdownGroup, signal: AbortSignal): Promise<void> {
    const {killPod, isFinished, clock} = this.#parts;
    const gracePeriodSeconds = shutdownGraceSeconds(pod, group);
    const fields = {pod: namespacedName(podRef(pod))};
    this.#logger.info('Shutdown manager killing pod with gracePeriod', {...fields, gracePeriodSeconds}, 1);
    try {
      await killPod(pod, {gracePeriodSeconds, reason: REASON, message: MESSAGE}, signal);
      while (!isFinished(pod)) await pause(clock, RELEASE_POLL_MS, signal);
      this.#logger.info('Shutdown manager finished killing pod', fields, 1);
    } catch (error) {
      if (signal.aborted) return;
      rethrowUnexpected(error);
      this.#logger.info('Shutdown manager failed killing pod', {...fields, err: error}, 1);
    }
  }

  async #record(times: ShutdownTimes): Promise<void> {
    if (!this.#policy.recordsTimes) return;
    this.#parts.metrics.nodeShutDown(times);
    try {
      await storeShutdownTimes(this.#statePath, times);
    } catch (error) {
      rethrowUnexpected(error);
      this.#logger.error(error, 'Failed to store graceful shutdown state');
    }
  }

  async #restoreTimes(): Promise<void> {
    if (!this.#policy.recordsTimes) return;
    try {
      this.#parts.metrics.nodeShutDown(await loadShutdownTimes(this.#statePath));
    } catch (error) {
      rethrowUnexpected(error);
      this.#logger.error(error, 'Failed to load graceful shutdown state');
    }
  }
}
