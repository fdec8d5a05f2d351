import type {Container, Pod} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import type {Init, PodSandboxConfig, PodSandboxId} from '../../cri/index.js';
import {containerEvents, type ContainerKind} from '../container/events.js';
import type {PodActions} from '../container/pod-actions.js';
import type {MountedVolumes} from '../container/pod-filesystem.js';
import {formatPod, podRef} from '../container/pod-ref.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../container/pod-status.js';
import {
  failuresOf,
  type SyncFailure,
  type SyncFailureReason,
  type SyncResult,
} from '../container/sync-result.js';
import {killContainer, killPod} from './kill-pod.js';
import {podAddresses} from './pod-addresses.js';
import {pruneInitContainers, purgeInitContainers} from './remove-container.js';
import {sandboxIps} from './runtime-status.js';
import {sandboxConfig} from './sandbox-config.js';
import {startContainer, type StartEnvironment} from './start-container.js';
import type {SyncContext} from './sync-context.js';

/** What a sync starts from. */
export interface SyncInput {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly actions: PodActions;
  readonly volumes: MountedVolumes;
}

/**
 * Carries out what computePodActions decided, in the kubelet's order (kuberuntime SyncPod): kill, prune,
 * sandbox, init containers, containers. Gives what was done and what failed; a failure ends the steps that
 * need it. Only aborting the signal rejects; it is looked at between calls, since a call cut off half-way
 * leaves behind what nobody knows the id of.
 */
export async function syncPod(
  context: SyncContext,
  input: SyncInput,
  signal: AbortSignal,
): Promise<readonly SyncResult[]> {
  const results: SyncResult[] = [];
  const {actions, pod, status} = input;
  results.push(...(await stopFirst(context, input, signal)));
  if (failuresOf(results).length > 0 || (actions.killPod && !actions.createSandbox)) return results;
  await pruneInitContainers(context, pod, status, actions);
  signal.throwIfAborted();

  const environment = await ensureSandbox(context, input, results);
  if (environment === undefined) return results;
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

function outcome(action: SyncResult['action'], target: string, failure: SyncFailure | undefined): SyncResult {
  return failure === undefined ? {action, target} : {action, target, failure};
}

/** Kills the whole pod or single containers, as decided. */
async function stopFirst(
  context: SyncContext,
  {actions, pod, status}: SyncInput,
  signal: AbortSignal,
): Promise<SyncResult[]> {
  const kill = {runtime: context.services.runtime, events: context.events, signal};
  if (!actions.killPod) {
    const results: SyncResult[] = [];
    for (const container of actions.containersToKill) {
      results.push(await killContainer(kill, pod, container));
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

/** The sandbox to start containers in: the present one, or a new one. Failures go to `results`. */
async function ensureSandbox(
  context: SyncContext,
  {pod, status, actions, volumes}: SyncInput,
  results: SyncResult[],
): Promise<StartEnvironment | undefined> {
  const {name} = podRef(pod);
  const fail = (
    reason: SyncFailureReason,
    action: SyncResult['action'],
    event: string,
    cause: unknown,
  ): void => {
    results.push({action, target: name, failure: {reason, message: messageOf(cause), cause}});
    context.events({
      type: 'Warning',
      reason: event,
      message: `${SANDBOX_EVENT_TEXTS[event] ?? ''}${messageOf(cause)}`,
      pod,
    });
  };
  let config: Init<PodSandboxConfig>;
  try {
    config = sandboxConfig(pod, context.node, actions.attempt);
  } catch (cause) {
    fail('ConfigPodSandboxError', 'ConfigPodSandbox', 'FailedCreatePodSandBox', cause);
    return undefined;
  }
  const shared = {pod, status, sandboxConfig: config, volumes};
  if (!actions.createSandbox && actions.sandboxId !== undefined)
    return {...shared, sandboxId: actions.sandboxId, podIps: podAddresses(pod, status.ips, context.node)};
  let sandboxId: PodSandboxId;
  try {
    sandboxId = await createSandbox(context, pod, config);
    results.push({action: 'CreatePodSandbox', target: name});
  } catch (cause) {
    fail('CreatePodSandboxError', 'CreatePodSandbox', 'FailedCreatePodSandBox', cause);
    return undefined;
  }
  try {
    const {status: created} = await context.services.runtime.podSandboxStatus({podSandboxId: sandboxId});
    return {...shared, sandboxId, podIps: podAddresses(pod, sandboxIps(created), context.node)};
  } catch (cause) {
    fail('CreatePodSandboxError', 'CreatePodSandbox', 'FailedPodSandBoxStatus', cause);
    return undefined;
  }
}

const SANDBOX_EVENT_TEXTS: Readonly<Record<string, string>> = {
  FailedCreatePodSandBox: 'Failed to create pod sandbox: ',
  FailedPodSandBoxStatus: 'Unable to get pod sandbox status: ',
};

async function createSandbox(
  context: SyncContext,
  pod: Pod,
  config: Init<PodSandboxConfig>,
): Promise<PodSandboxId> {
  await context.files.makeLogDirectory(pod);
  const {podSandboxId} = await context.services.runtime.runPodSandbox({config, runtimeHandler: ''});
  return podSandboxId;
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
    (await startContainer(context, environment, target, signal))
  );
}

function crashLoopBackOff(
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
  const retryAt = context.crashBackoff.waitUntil(key, finishedAt, context.clock.now());
  if (retryAt === undefined) {
    context.crashBackoff.next(key, finishedAt);
    return undefined;
  }
  const who = formatPod(podRef(pod));
  const delay = goSeconds(context.crashBackoff.get(key));
  containerEvents(context.events, pod, kind, container.name).warning(
    'BackOff',
    `Back-off restarting failed container ${container.name} in pod ${who}`,
  );
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${delay} restarting failed container=${container.name} pod=${who}`,
    retryAt,
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

/** Whole seconds as Go prints a Duration: `10s`, `1m20s`, `5m0s`. */
function goSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
