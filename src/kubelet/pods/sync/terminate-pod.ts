import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodSandboxId} from '../../../cri/index.js';
import {podRef} from '../../contract/pod-ref.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {failuresOf, syncErrorText, type SyncFailure, type SyncResult} from '../../contract/sync-result.js';
import type {ContainerGcActions} from '../../contract/container-gc-actions.js';
import {killContainer, createKillContext} from '../../managers/kuberuntime/actions/kill-container.js';
import {killPod} from '../../managers/kuberuntime/actions/kill-pod.js';
import {removeContainer} from '../../managers/kuberuntime/actions/remove-container.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import {PodError, createSyncError} from '../pod-errors.js';

/** Options of stopPod. */
export interface StopOptions {
  readonly gracePeriodSeconds: number;
  /** Signal that interrupts the waits; they reject with its reason. */
  readonly signal: AbortSignal | undefined;
}

/** Stops the probes of a pod and all its containers for good. Reports failures as an event. */
export async function stopPod(
  context: SyncContext,
  pod: Pod,
  runtime: RuntimePodStatus,
  {gracePeriodSeconds, signal}: StopOptions,
): Promise<readonly SyncResult[]> {
  const {probes, events, secrets} = context;
  probes.stopLivenessAndStartup(pod);
  const killed = await killPod(
    createKillContext(context, runtime.ips, signal),
    pod,
    runtime,
    gracePeriodSeconds,
  );
  const results = secrets.maskResults(killed);
  const failures = failuresOf(results);
  if (failures.length > 0) {
    const message = `error killing pod: ${syncErrorText(failures)}`;
    events({type: 'Warning', reason: 'FailedKillPod', message, pod});
  } else probes.remove(pod);
  return results;
}

/** Releases what the node's managers hold for a stopped pod. Rejects with PodError if one of its containers still runs. */
export async function confirmStopped(
  {nodeManagers}: SyncContext,
  pod: Pod,
  {containers}: RuntimePodStatus,
): Promise<void> {
  const running = containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(({name}) => name);
  if (running.length > 0)
    throw new PodError(
      podRef(pod),
      `detected running containers after a successful KillPod, CRI violation: [${running.join(' ')}]`,
    );
  await nodeManagers.podStopped(pod);
}

/** Removes the containers of a stopped pod with their logs, then its sandboxes. Rejects with CriError and PodError. */
export async function removeStoppedPod(
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

/** Removes dead containers and sandboxes of a pod. Rejects with CriError and PodError. */
export async function removeGarbage(
  context: SyncContext,
  pod: Pod,
  {containers, sandboxes}: ContainerGcActions,
): Promise<void> {
  await killUnknown(
    context,
    pod,
    containers.filter(({state}) => state === 'CONTAINER_UNKNOWN'),
  );
  await removeContainers(context, pod, containers);
  await removeSandboxes(context, sandboxes);
}

/** Kills containers in unknown state, which may still run. */
async function killUnknown(
  context: SyncContext,
  pod: Pod,
  containers: readonly RuntimeContainerStatus[],
): Promise<void> {
  const kills = createKillContext(context, []);
  const message = 'Container is in unknown state, try killing it before removal';
  for (const {id, name} of containers)
    throwFirstFailure(pod, [await killContainer(kills, pod, {id, name, message, reason: 'Unknown'})]);
}

async function removeContainers(
  context: SyncContext,
  pod: Pod,
  containers: readonly RuntimeContainerStatus[],
): Promise<void> {
  throwFirstFailure(pod, await Promise.all(containers.map((item) => removeContainer(context, pod, item))));
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
export function throwFirstFailure(pod: Pod, results: readonly SyncResult[]): void {
  const [first]: readonly (SyncResult & {readonly failure: SyncFailure})[] = failuresOf(results);
  if (first !== undefined) throw createSyncError(podRef(pod), first);
}
