import type {Container, Pod} from '../../api/v1.js';
import type {ContainerKind} from '../container/events.js';
import type {ContainerToReset, PodActions} from '../container/pod-actions.js';
import {failuresOf, type SyncFailure, type SyncResult} from '../container/sync-result.js';
import {crashLoopBackOff} from './crash-loop-back-off.js';
import {ensureSandbox, type SyncInput} from './ensure-sandbox.js';
import {imageVolumeFailure, pullImageVolumes} from './image-volumes.js';
import {killContainer, killContext, type KillContext} from './kill-container.js';
import {killPod} from './kill-pod.js';
import {pruneInitContainers, purgeInitContainers, removeContainer} from './remove-container.js';
import {resizePod} from './resize-pod.js';
import {startContainer, type StartEnvironment} from './start-container.js';
import type {SyncContext} from './sync-context.js';

/**
 * Carries out what computePodActions decided, in the kubelet's order (kuberuntime SyncPod): kill, prune, sandbox, init
 * containers, containers. What is resized is before any container is started: a kubelet starts sidecars first, for which
 * there may be no room in the pod's cgroup yet. Gives what was done and what failed; a failure ends the steps that need
 * it. Only aborting the signal rejects; it is looked at between calls, since a call cut off half-way leaves behind what
 * nobody knows the id of.
 */
export async function syncPod(
  context: SyncContext,
  input: SyncInput,
  signal: AbortSignal,
): Promise<readonly SyncResult[]> {
  const results: SyncResult[] = [];
  const {actions, pod, status} = input;
  results.push(...(await stopFirst(context, input, signal)));
  if (failuresOf(results).length > 0 || startsNothing(actions)) return results;
  await pruneInitContainers(context, pod, status, actions);
  signal.throwIfAborted();

  const {environment: sandbox, result} = await ensureSandbox(context, input);
  if (result !== undefined) results.push(result);
  if (sandbox === undefined) return results;
  const imageVolumes = await pullImageVolumes(context, sandbox, signal);
  const environment = {...sandbox, imageVolumes};
  if (actions.resize !== undefined) {
    const {resize} = actions;
    results.push(await resizePod(context, {pod, sandboxId: environment.sandboxId, resize}));
  }
  for (const container of actions.initContainersToStart) {
    const failure = await start(context, environment, {container, kind: 'initContainers'}, signal);
    results.push(outcome('InitContainer', container.name, failure));
    if (failure !== undefined && container.restartPolicy !== 'Always') return results;
  }
  for (const container of actions.containersToStart) {
    const failure = await start(context, environment, {container, kind: 'containers'}, signal);
    results.push(outcome('StartContainer', container.name, failure));
  }
  return results;
}

/** The pod has ended, or begins anew with the next sync. */
function startsNothing({killPod, createSandbox, containersToReset}: PodActions): boolean {
  return killPod ? !createSandbox : containersToReset.length > 0;
}

function outcome(action: SyncResult['action'], target: string, failure: SyncFailure | undefined): SyncResult {
  return failure === undefined ? {action, target} : {action, target, failure};
}

/** Kills the whole pod or single containers, as decided. */
async function stopFirst(
  context: SyncContext,
  {actions, pod, status}: SyncInput,
  signal: AbortSignal,
): Promise<SyncResult[]> {
  const kill = killContext(context, status.ips, signal);
  if (!actions.killPod) {
    const steps = [
      ...actions.containersToKill.map((target) => async () => killContainer(kill, pod, target)),
      ...actions.containersToReset.map((target) => async () => resetContainer(context, kill, pod, target)),
    ];
    const results: SyncResult[] = [];
    for (const step of steps) {
      results.push(await step());
      if (failuresOf(results).length > 0) break;
    }
    return results;
  }
  if (actions.createSandbox && actions.sandboxId !== undefined)
    context.events({
      type: 'Normal',
      reason: 'SandboxChanged',
      message: 'Pod sandbox changed, it will be killed and re-created.',
      pod,
    });
  const results = [...(await killPod(kill, pod, status))];
  if (actions.createSandbox && failuresOf(results).length === 0)
    results.push(...(await purgeInitContainers(context, pod, status)));
  return results;
}

/** Removes a container, killed first without a preStop hook if need be; the log tells the next one its number. */
async function resetContainer(
  context: SyncContext,
  kill: KillContext,
  pod: Pod,
  {instance, kill: runs}: ContainerToReset,
): Promise<SyncResult> {
  const {id, name} = instance;
  if (runs) {
    const killed = await killContainer(kill, pod, {id, name, message: 'killing', gracePeriodSeconds: 0});
    if (killed.failure !== undefined) return killed;
  }
  return await removeContainer(context, pod, instance, {keepLogs: true});
}

/** startContainer, unless the container crashed a short while ago (doBackOff). */
async function start(
  context: SyncContext,
  environment: StartEnvironment,
  target: {readonly container: Container; readonly kind: ContainerKind},
  signal: AbortSignal,
): Promise<SyncFailure | undefined> {
  signal.throwIfAborted();
  return (
    crashLoopBackOff(context, environment, target) ??
    imageVolumeFailure(context, environment, target) ??
    (await startContainer(context, environment, target, signal))
  );
}
