import type {Pod} from '../api/v1.js';
import type {PodSandboxId} from '../cri/index.js';
import {podRef} from './container/pod-ref.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from './container/pod-status.js';
import {failuresOf, syncErrorText, type SyncFailure, type SyncResult} from './container/sync-result.js';
import type {Garbage} from './kuberuntime/garbage.js';
import {killContainer, killContext} from './kuberuntime/kill-container.js';
import {killPod} from './kuberuntime/kill-pod.js';
import {removeContainer} from './kuberuntime/remove-container.js';
import type {SyncContext} from './kuberuntime/sync-context.js';
import {PodError, podErrorOf} from './pod-error.js';

/** How a pod is stopped. */
export interface StopOptions {
  readonly gracePeriodSeconds: number;
  /** Ends the waits, with its reason. */
  readonly signal: AbortSignal | undefined;
}

/** Stops all of a pod for good, and its probes; that something could not be is told. */
export async function stopPod(
  context: SyncContext,
  pod: Pod,
  runtime: RuntimePodStatus,
  {gracePeriodSeconds, signal}: StopOptions,
): Promise<readonly SyncResult[]> {
  const {probes, events, secrets} = context;
  probes.stopLivenessAndStartup(pod);
  const killed = await killPod(killContext(context, runtime.ips, signal), pod, runtime, gracePeriodSeconds);
  const results = secrets.maskResults(killed);
  const failures = failuresOf(results);
  if (failures.length > 0) {
    const message = `error killing pod: ${syncErrorText(failures)}`;
    events({type: 'Warning', reason: 'FailedKillPod', message, pod});
  } else probes.remove(pod);
  return results;
}

/** Throws PodError when a container runs that was stopped. */
export function requireStopped(pod: Pod, {containers}: RuntimePodStatus): void {
  const running = containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(({name}) => name);
  if (running.length > 0)
    throw new PodError(
      podRef(pod),
      `detected running containers after a successful KillPod, CRI violation: [${running.join(' ')}]`,
    );
}

/**
 * Removes what a stopped pod left in the runtime: its containers with their logs, then its sandboxes. Rejects with
 * CriError and PodError.
 */
export async function removeStopped(
  context: SyncContext,
  pod: Pod,
  {containers, sandboxes}: RuntimePodStatus,
): Promise<void> {
  await removeContainers(context, pod, containers);
  await removeSandboxes(
    context,
    sandboxes.map(({id}) => id),
  );
}

/** Removes what of a pod nobody needs any more. Rejects with CriError and PodError. */
export async function removeGarbage(
  context: SyncContext,
  pod: Pod,
  {containers, sandboxes}: Garbage,
): Promise<void> {
  await killUnknown(
    context,
    pod,
    containers.filter(({state}) => state === 'CONTAINER_UNKNOWN'),
  );
  await removeContainers(context, pod, containers);
  await removeSandboxes(context, sandboxes);
}

/** They might run. */
async function killUnknown(
  context: SyncContext,
  pod: Pod,
  containers: readonly RuntimeContainerStatus[],
): Promise<void> {
  const kills = killContext(context, []);
  const message = 'Container is in unknown state, try killing it before removal';
  for (const {id, name} of containers)
    throwFirst(pod, [await killContainer(kills, pod, {id, name, message, reason: 'Unknown'})]);
}

async function removeContainers(
  context: SyncContext,
  pod: Pod,
  containers: readonly RuntimeContainerStatus[],
): Promise<void> {
  throwFirst(pod, await Promise.all(containers.map((item) => removeContainer(context, pod, item))));
}

async function removeSandboxes(
  {services: {runtime}}: SyncContext,
  ids: readonly PodSandboxId[],
): Promise<void> {
  for (const podSandboxId of ids) {
    await runtime.stopPodSandbox({podSandboxId});
    await runtime.removePodSandbox({podSandboxId});
  }
}

/** Throws the first failure as a PodError. */
export function throwFirst(pod: Pod, results: readonly SyncResult[]): void {
  const [first]: readonly (SyncResult & {readonly failure: SyncFailure})[] = failuresOf(results);
  if (first !== undefined) throw podErrorOf(podRef(pod), first);
}
