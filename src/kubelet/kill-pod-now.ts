import type {Pod} from '../api/v1.js';
import type {Clock} from '../base/clock.js';
import {SystemError} from '../base/errors.js';
import {doneWithin} from '../base/time-limit.js';
import type {EventSink} from './container/events.js';
import {formatPod, podRef} from './container/pod-ref.js';
import type {PodWorkers} from './pod-workers/pod-workers.js';
import type {KillOptions} from './pod-workers/worker-state.js';

/** What is needed to end a pod and to wait for it. */
export interface KillContext {
  readonly workers: Pick<PodWorkers, 'update'>;
  readonly clock: Clock;
  readonly events: EventSink;
}

/** At least so long is waited for the end of a pod, in seconds. */
const SHORTEST_WAIT_SECONDS = 10;

/**
 * Has a pod ended for good by the kubelet's own decision, and resolves when nothing of it runs any more
 * (pod_workers.go killPodNow). Rejects with SystemError when that takes half as long again as its grace period, and
 * with the signal's reason; its worker goes on then.
 */
export async function killPodNow(
  {workers, clock, events}: KillContext,
  pod: Pod,
  kill: Pick<KillOptions, 'gracePeriodSeconds' | 'status'>,
  signal: AbortSignal,
): Promise<void> {
  const graceSeconds = kill.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  const waitSeconds = Math.max(Math.trunc(graceSeconds * 1.5), SHORTEST_WAIT_SECONDS);
  const completed = new Promise<void>((resolve) => {
    workers.update({type: 'kill', pod, kill: {...kill, evict: true, onCompleted: resolve}});
  });
  if (await doneWithin(completed, waitSeconds * 1000, clock, signal)) return;
  const message = 'Container runtime did not kill the pod within specified grace period.';
  events({type: 'Warning', reason: 'ExceededGracePeriod', message, pod});
  throw new SystemError(`timeout waiting to kill pod ${formatPod(podRef(pod))}`, {
    hint: 'the runtime may hang; the pod is still being ended',
  });
}
