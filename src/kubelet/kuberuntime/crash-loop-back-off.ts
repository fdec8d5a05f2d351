import type {Container, Pod} from '../../api/v1.js';
import {formatDuration} from '../../format/duration.js';
import {containerEvents, type ContainerKind} from '../container/events.js';
import {formatPod, podRef} from '../container/pod-ref.js';
import type {RuntimeContainerStatus} from '../container/pod-status.js';
import type {SyncFailure} from '../container/sync-result.js';
import type {StartEnvironment} from './start-container.js';
import type {SyncContext} from './sync-context.js';

/**
 * The failure of a container that crashed too short a while ago to be started again (kuberuntime doBackOff), or
 * undefined when it may be; its next delay is then counted.
 */
export function crashLoopBackOff(
  context: SyncContext,
  {pod, status}: StartEnvironment,
  {container, kind}: {readonly container: Container; readonly kind: ContainerKind},
): SyncFailure | undefined {
  const exited = status.containers.find(
    ({name, state}) => name === container.name && state === 'CONTAINER_EXITED',
  );
  if (exited === undefined) return undefined;
  const key = backoffKey(pod, container);
  const finishedAt = finishedAtMs(exited);
  const now = context.clock.now();
  const retryAt = context.crashBackoff.waitUntil(key, finishedAt, now);
  if (retryAt === undefined) {
    context.crashBackoff.next(key, finishedAt, now);
    return undefined;
  }
  const who = formatPod(podRef(pod));
  const backOffMs = context.crashBackoff.get(key);
  const delay = formatDuration(BigInt(backOffMs) * 1_000_000n);
  containerEvents(context.events, pod, kind, container.name).warning(
    'BackOff',
    `Back-off restarting failed container ${container.name} in pod ${who}`,
  );
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${delay} restarting failed container=${container.name} pod=${who}`,
    retryAt,
    backOffMs,
  };
}

function finishedAtMs({cri}: RuntimeContainerStatus): number {
  return Number(cri.finishedAt / 1_000_000n);
}

/** What makes two instances of a container the same for the back-off: a changed image starts afresh. */
function backoffKey(pod: Pod, container: Container): string {
  const {name, namespace, uid} = podRef(pod);
  const resources = JSON.stringify(container.resources ?? {});
  return [name, namespace, uid, container.name, container.image, resources].join('/');
}
