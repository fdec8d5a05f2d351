import {anySignal} from '../../base/async/any-signal.js';
import {createDeadline} from '../../base/async/deadline.js';
import {KcriError, SystemError} from '../../base/errors.js';
import {formatDuration} from '../../format/duration.js';
import type {EnvironmentContext, ReportContext, SignalContext} from '../../cli/command/contexts.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import type {ListedPod, ShownPod} from '../pods/listed-pod.js';
import type {PodReader} from '../pods/pod-reader.js';
import {containerState, whyNeverRuns, type SeenPod} from '../wait/judge-readiness.js';
import {statusOfContainer} from '../pods/restart-policy.js';
import {currentId} from '../wait/wait-target.js';

/** Interval at which the pod of a container is read, in ms. */
const POLL_MS = 500;

/** A manager did not start the next instance in time. */
class RestartTimeoutError extends KcriError {
  readonly code = 'RESTART_TIMEOUT';
  override readonly exitCode = EXIT.timedOut;
}

/** Container whose next instance a manager starts. */
export interface NextInstanceOptions {
  readonly listed: ListedPod;
  readonly name: string;
  /** ID of the stopped instance; undefined if there was none. */
  readonly oldId: string | undefined;
  /** Name of the container, for messages. */
  readonly shown: string;
  readonly timeoutMs: number;
}

/** State of a container between two instances. */
type NextInstance =
  | {readonly kind: 'started'; readonly id: string}
  | {readonly kind: 'ended'; readonly reason: string}
  | {readonly kind: 'waiting'; readonly state: string; readonly backOff: string | undefined};

/**
 * Waits until the manager of a container has started its next instance, and returns the ID. Tells of a back-off once.
 * Rejects with KcriError if that never happens or takes too long, and with the signal's reason.
 */
export async function waitForNextInstance(
  services: EnvironmentContext & ReportContext & SignalContext,
  reader: PodReader,
  {listed, name, oldId, shown, timeoutMs}: NextInstanceOptions,
): Promise<string> {
  const {context, report, signal} = services;
  using deadline = createDeadline(context.clock, timeoutMs);
  let isBackOffReported = false;
  for (;;) {
    const isLast = deadline.signal.aborted;
    const next = findNext(await observe(services, reader, listed), name, oldId);
    if (next.kind === 'started') return next.id;
    if (next.kind === 'ended')
      throw new SystemError(`container "${shown}" was not started again: ${next.reason}`);
    if (next.backOff !== undefined && !isBackOffReported)
      report.info(`kcri: container "${shown}" is in CrashLoopBackOff: ${next.backOff}`);
    isBackOffReported ||= next.backOff !== undefined;
    if (isLast) {
      const waited = formatDuration(BigInt(Math.round(timeoutMs * 1e6)));
      throw new RestartTimeoutError(
        `container "${shown}" was not started again after ${waited}: ${next.state}`,
        {hint: 'its manager may still start it; use "kcri wait", or a longer --wait'},
      );
    }
    using either = anySignal(signal, deadline.signal);
    const ending = either.signal;
    await context.clock.sleep(POLL_MS, ending).catch(() => undefined);
    signal.throwIfAborted();
  }
}

type ObservedTarget = (SeenPod & Pick<ShownPod, 'isUnattended'>) | 'unknown' | undefined;

/** Returns a pod with its status; undefined if it was deleted, `unknown` while the runtime does not answer. */
async function observe(
  {context}: EnvironmentContext,
  reader: PodReader,
  {uid}: ListedPod,
): Promise<ObservedTarget> {
  const all = await reader.select([], {}, () => undefined);
  const listed = all.find((each) => each.uid === uid);
  if (listed === undefined) return reader.runtimeFailure === undefined ? undefined : 'unknown';
  const [shown] = await reader.observe([listed]);
  return shown === undefined ? 'unknown' : {...shown, listed, nowMs: context.clock.now()};
}

function findNext(seen: ObservedTarget, name: string, oldId: string | undefined): NextInstance {
  if (seen === undefined) return {kind: 'ended', reason: 'its pod was deleted'};
  if (seen === 'unknown') return {kind: 'waiting', state: 'the runtime does not respond', backOff: undefined};
  const id = currentId(seen, name);
  const {running, waiting} = statusOfContainer(seen.pod, name)?.state ?? {};
  if (id !== undefined && id !== oldId && running !== undefined) return {kind: 'started', id};
  const reason =
    seen.isUnattended === true ? 'no kcri process runs its pod any more' : whyNeverRuns(seen, name);
  return reason === undefined
    ? {
        kind: 'waiting',
        state: containerState(statusOfContainer(seen.pod, name)),
        backOff: waiting?.reason === 'CrashLoopBackOff' ? waiting.message : undefined,
      }
    : {kind: 'ended', reason};
}
