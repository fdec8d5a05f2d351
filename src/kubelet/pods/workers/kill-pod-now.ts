import type {Pod} from '../../../api/types/v1-pod.js';
import type {Clock} from '../../../base/clock.js';
import {SystemError} from '../../../base/errors.js';
import {finishesWithin} from '../../../base/async/deadline.js';
import type {EventSink} from '../../contract/pod-event.js';
import {formatPod, podRef} from '../../contract/pod-ref.js';
import type {PodWorkers} from './pod-workers.js';
import type {KillOptions} from './worker-state.js';

/** Dependencies of killPodNow. */
export interface KillContext {
  readonly workers: Pick<PodWorkers, 'update'>;
  readonly clock: Clock;
  readonly events: EventSink;
}

/** Minimum time to wait for a pod to stop, in seconds. */
const MIN_WAIT_SECONDS = 10;

/**
 * Kills a pod, by default to evict it, and resolves when all its containers have stopped (pod_workers.go killPodNow). Rejects with SystemError
 * after 1.5 times its grace period, and with the signal's reason; the pod worker continues.
 */
export async function killPodNow(
  {workers, clock, events}: KillContext,
  pod: Pod,
  kill: Omit<KillOptions, 'onCompleted'>,
  signal: AbortSignal,
): Promise<void> {
  const graceSeconds = kill.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  const waitSeconds = Math.max(Math.trunc(graceSeconds * 1.5), MIN_WAIT_SECONDS);
  const completed = new Promise<void>((resolve) => {
    workers.update({type: 'kill', pod, kill: {evict: true, ...kill, onCompleted: resolve}});
  });
  if (await finishesWithin(completed, waitSeconds * 1000, clock, signal)) return;
  const message = 'Container runtime did not kill the pod within specified grace period.';
  events({type: 'Warning', reason: 'ExceededGracePeriod', message, pod});
  throw new SystemError(`timeout waiting to kill pod ${formatPod(podRef(pod))}`, {
    hint: 'the runtime may be unresponsive; the pod is still terminating',
  });
}
