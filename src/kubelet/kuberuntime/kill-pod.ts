import type {Pod} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import {isNotFound, type ContainerId} from '../../cri/index.js';
import {containerEvents, type ContainerKind, type EventSink} from '../container/events.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import type {KubeRuntimeService} from '../container/services.js';
import type {SyncResult} from '../container/sync-result.js';

/** What no container gets less than, in seconds (minimumGracePeriodInSeconds). */
const MINIMUM_GRACE_PERIOD_SECONDS = 2;

/** With what a pod is killed. */
export interface KillContext {
  readonly runtime: KubeRuntimeService;
  readonly events: EventSink;
  /** Ends the wait for containers to stop. */
  readonly signal: AbortSignal | undefined;
}

/** One container to stop. */
export interface KillRequest {
  readonly id: ContainerId;
  readonly name: string;
  /** The text of the Killing event; the kubelet's `Stopping container x` unless given. */
  readonly message?: string;
  /** Replaces the pod's own grace period, in seconds. */
  readonly gracePeriodSeconds?: number | undefined;
}

/** True when a container of that name is one of the pod's init containers. */
export function isInitContainer(pod: Pod, name: string): boolean {
  return pod.spec.initContainers?.some((container) => container.name === name) ?? false;
}

/**
 * Stops one container with its grace period, at least 2 s (kuberuntime killContainer). A container that is
 * gone already counts as stopped. preStop hooks are refused in manifests until they are built. Only aborting
 * the signal rejects.
 */
export async function killContainer(
  context: KillContext,
  pod: Pod,
  request: KillRequest,
): Promise<SyncResult> {
  const {id, name, message = `Stopping container ${name}`} = request;
  const kind: ContainerKind = isInitContainer(pod, name) ? 'initContainers' : 'containers';
  containerEvents(context.events, pod, kind, name).normal('Killing', message);
  const grace = request.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  const timeout = BigInt(Math.max(grace, MINIMUM_GRACE_PERIOD_SECONDS));
  const {runtime, signal} = context;
  try {
    await runtime.stopContainer({containerId: id, timeout}, {signal});
  } catch (error) {
    signal?.throwIfAborted();
    if (!isNotFound(error)) return failed('KillContainer', name, 'KillContainerError', error);
  }
  return {action: 'KillContainer', target: name};
}

/**
 * Stops every running container at once, then every sandbox of the pod (killPodWithSyncResult). The sandboxes
 * are stopped even when a container could not be. Only aborting the signal rejects.
 */
export async function killPod(
  context: KillContext,
  pod: Pod,
  status: RuntimePodStatus,
  gracePeriodSeconds?: number,
): Promise<readonly SyncResult[]> {
  const running = status.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
  const killed = await Promise.all(
    running.map(({id, name}) => killContainer(context, pod, {id, name, gracePeriodSeconds})),
  );
  const stopped: SyncResult[] = [];
  for (const {id, metadata} of status.sandboxes) {
    const target = metadata?.name ?? id;
    try {
      await context.runtime.stopPodSandbox({podSandboxId: id}, {signal: context.signal});
      stopped.push({action: 'KillPodSandbox', target});
    } catch (error) {
      context.signal?.throwIfAborted();
      if (!isNotFound(error)) stopped.push(failed('KillPodSandbox', target, 'KillPodSandboxError', error));
    }
  }
  return [...killed, ...stopped];
}

function failed(
  action: SyncResult['action'],
  target: string,
  reason: 'KillContainerError' | 'KillPodSandboxError',
  cause: unknown,
): SyncResult {
  return {action, target, failure: {reason, message: messageOf(cause), cause}};
}
