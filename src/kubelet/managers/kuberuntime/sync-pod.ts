import type {EphemeralContainer, Pod} from '../../../api/types/v1-pod.js';
import type {ContainerKind} from '../../contract/pod-event.js';
import type {ContainerToReset, PodActions} from '../../contract/pod-actions.js';
import {podRef} from '../../contract/pod-ref.js';
import {failuresOf, type SyncResult} from '../../contract/sync-result.js';
import {checkCrashLoopBackOff, revertCrashLoopBackOff} from './actions/crash-loop-back-off.js';
import {ensureSandbox, type SyncPodInput} from './actions/ensure-sandbox.js';
import {findImageVolumeFailure, pullImageVolumes} from './actions/pull-image-volumes.js';
import {killContainer, createKillContext, type KillContext} from './actions/kill-container.js';
import {killPod} from './actions/kill-pod.js';
import {pruneInitContainers, purgeInitContainers, removeContainer} from './actions/remove-container.js';
import {resizePod} from './actions/resize-pod.js';
import {startContainer, type StartEnvironment, type StartOutcome} from './actions/start-container.js';
import type {SyncContext} from './sync-context.js';

/**
 * Executes the actions of computePodActions in the kubelet's order (kuberuntime SyncPod): kill, prune, sandbox, init
 * containers, containers. Unlike the kubelet, which starts sidecars first, it resizes before it starts any container,
 * because the pod's cgroup may not have room for them yet. Returns the result of each step; a failed step skips those
 * that depend on it. Rejects only with the signal's reason. The signal is checked between calls: a call that is cut off
 * could leave behind an object of unknown ID.
 */
export async function syncPod(
  context: SyncContext,
  input: SyncPodInput,
  signal: AbortSignal,
): Promise<readonly SyncResult[]> {
  const results: SyncResult[] = [];
  const {actions, pod, status} = input;
  results.push(...(await killOrReset(context, input, signal)));
  if (failuresOf(results).length > 0 || endsAfterKill(actions)) return results;
  await pruneInitContainers(context, pod, status, actions);
  signal.throwIfAborted();

  const {environment: sandbox, result} = await ensureSandbox(context, input, signal);
  if (result !== undefined) results.push(result);
  if (sandbox === undefined) return results;
  if (result !== undefined) input.onSandboxReady?.();
  if (startsContainers(actions)) await context.objects.sandboxReady?.(pod, sandbox.podIps, signal);
  const imageVolumes = await pullImageVolumes(context, sandbox, signal);
  const environment = {...sandbox, imageVolumes};
  if (actions.resize !== undefined) {
    const {resize} = actions;
    results.push(await resizePod(context, {pod, sandboxId: environment.sandboxId, resize}));
  }
  return [...results, ...(await startContainers(context, environment, actions, signal))];
}

function startsContainers({
  ephemeralContainersToStart,
  initContainersToStart,
  containersToStart,
}: PodActions): boolean {
  return [ephemeralContainersToStart, initContainersToStart, containersToStart].some(
    ({length}) => length > 0,
  );
}

interface StartTarget {
  readonly container: EphemeralContainer;
  readonly kind: ContainerKind;
}

const EPHEMERAL_CONTAINER = {kind: 'ephemeralContainers', action: 'StartContainer'} as const;
const INIT_CONTAINER = {kind: 'initContainers', action: 'InitContainer'} as const;
const CONTAINER = {kind: 'containers', action: 'StartContainer'} as const;

/**
 * Starts the ephemeral containers, the init containers and then the containers. Ends after an init container that failed, and with CheckPodSandbox
 * if the sandbox has ended or is ending.
 */
async function startContainers(
  context: SyncContext,
  environment: StartEnvironment,
  {ephemeralContainersToStart, initContainersToStart, containersToStart}: PodActions,
  signal: AbortSignal,
): Promise<readonly SyncResult[]> {
  const targets: readonly (StartTarget & Pick<SyncResult, 'action'>)[] = [
    ...ephemeralContainersToStart.map((container) => ({container, ...EPHEMERAL_CONTAINER})),
    ...initContainersToStart.map((container) => ({container, ...INIT_CONTAINER})),
    ...containersToStart.map((container) => ({container, ...CONTAINER})),
  ];
  const results: SyncResult[] = [];
  for (const {action, ...target} of targets) {
    const {container} = target;
    const outcome = await start(context, environment, target, signal);
    if (outcome.kind === 'sandbox-ended' || outcome.kind === 'sandbox-ending') {
      const {pod, doubt} = environment;
      revertCrashLoopBackOff(context, environment, container);
      const settlesAt = outcome.kind === 'sandbox-ending' ? doubt?.end : undefined;
      return [...results, {action: 'CheckPodSandbox', target: podRef(pod).name, settlesAt}];
    }
    results.push(toSyncResult(action, container.name, outcome));
    if (outcome.kind === 'failed' && action === 'InitContainer' && container.restartPolicy !== 'Always')
      break;
  }
  return results;
}

/**
 * Reports whether nothing is started in this sync: the pod is finished, or its containers restart with the next sync.
 */
function endsAfterKill({killPod, createSandbox, containersToReset}: PodActions): boolean {
  return killPod ? !createSandbox : containersToReset.length > 0;
}

function toSyncResult(action: SyncResult['action'], target: string, outcome: StartOutcome): SyncResult {
  return outcome.kind === 'failed' ? {action, target, failure: outcome.failure} : {action, target};
}

/** Kills the whole pod, or kills or resets single containers. */
async function killOrReset(
  context: SyncContext,
  {actions, pod, status}: SyncPodInput,
  signal: AbortSignal,
): Promise<SyncResult[]> {
  const kill = createKillContext(context, status.ips, signal);
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

/**
 * Removes a container, after killing it without a preStop hook if it runs. Keeps its log, which holds its restart
 * count.
 */
async function resetContainer(
  context: SyncContext,
  kill: KillContext,
  pod: Pod,
  {instance, kill: mustKill}: ContainerToReset,
): Promise<SyncResult> {
  const {id, name} = instance;
  if (mustKill) {
    const killed = await killContainer(kill, pod, {id, name, message: 'killing', gracePeriodSeconds: 0});
    if (killed.failure !== undefined) return killed;
  }
  return await removeContainer(context, pod, instance, {keepLogs: true});
}

/** Starts a container unless it is in crash-loop back-off or lacks the image of a volume. */
async function start(
  context: SyncContext,
  environment: StartEnvironment,
  target: StartTarget,
  signal: AbortSignal,
): Promise<StartOutcome> {
  signal.throwIfAborted();
  const failure =
    checkCrashLoopBackOff(context, environment, target) ??
    findImageVolumeFailure(context, environment, target);
  return failure === undefined
    ? await startContainer(context, environment, target, signal)
    : {kind: 'failed', failure};
}
