import type {Pod} from '../../../../api/types/v1-pod.js';
import {messageOf, rethrowUnexpected} from '../../../../base/errors.js';
import type {Init, PodSandboxConfig} from '../../../../cri/index.js';
import type {PodActions} from '../../../contract/pod-actions.js';
import type {MountedVolumes} from '../../../contract/pod-filesystem.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SyncFailureReason, SyncResult} from '../../../contract/sync-result.js';
import {replaceResources} from '../../../resources/partial-resources.js';
import {podDns, type DnsWarning} from '../../network/pod-dns.js';
import {lookupRuntimeHandler} from '../../../contract/lookup-runtime-handler.js';
import {computePodIps} from '../config/pod-addresses.js';
import {sandboxIps} from '../read-runtime-pod-status.js';
import {generatePodSandboxConfig} from '../config/sandbox-config.js';
import type {SandboxDoubt} from '../compute/ending-sandbox.js';
import type {StartEnvironment} from './start-container.js';
import type {SyncContext} from '../sync-context.js';
import {ensureUserNamespaceMappings} from '../config/user-namespace-mappings.js';

/** Input of SyncPod. */
export interface SyncPodInput {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly actions: PodActions;
  readonly volumes: MountedVolumes;
  /** Doubt whether the existing sandbox stays; none by default. */
  readonly doubt?: SandboxDoubt | undefined;
  /** Called when a new sandbox is ready, before images are pulled. Must not throw. */
  readonly onSandboxReady?: () => void;
}

/**
 * Result of ensureSandbox: `environment` is absent after a failure, `result` if the sandbox already existed. Both are absent
 * if the pod waits for a manager of the node.
 */
export interface EnsuredSandbox {
  readonly environment?: Omit<StartEnvironment, 'imageVolumes'>;
  readonly result?: SyncResult;
}

/** Step of ensureSandbox, as it is reported if it fails. */
interface Step {
  readonly action: SyncResult['action'];
  readonly reason: SyncFailureReason;
  readonly event: string;
  /** Start of the event's message. */
  readonly text: string;
}

const CONFIGURE: Step = {
  action: 'ConfigPodSandbox',
  reason: 'ConfigPodSandboxError',
  event: 'FailedCreatePodSandBox',
  text: 'Failed to create pod sandbox: ',
};
const CREATE: Step = {...CONFIGURE, action: 'CreatePodSandbox', reason: 'CreatePodSandboxError'};
const READ_STATUS: Step = {
  ...CREATE,
  event: 'FailedPodSandBoxStatus',
  text: 'Unable to get pod sandbox status: ',
};

/** Returns the configuration of a sandbox with the resources that managers of the node replace. */
function withManagedResources(
  {nodeManagers, node}: SyncContext,
  pod: Pod,
  config: Init<PodSandboxConfig>,
): Init<PodSandboxConfig> {
  const {linux} = config;
  const resources = replaceResources(linux?.resources ?? {}, nodeManagers.sandboxResources(pod, node));
  return {...config, linux: {...linux, resources}};
}

/**
 * Creates the sandbox if the actions require it, or returns the existing one (kuberuntime createPodSandbox). Never
 * rejects.
 */
export async function ensureSandbox(
  context: SyncContext,
  input: SyncPodInput,
  signal: AbortSignal,
): Promise<EnsuredSandbox> {
  const {pod, status, actions, volumes, doubt} = input;
  const {runtime} = context.services;
  let step = CONFIGURE;
  try {
    const runtimeHandler = lookupRuntimeHandler(pod, context.objects);
    const ids = await ensureUserNamespaceMappings(pod, runtimeHandler, context);
    const node = {...context.node, resolvConf: await context.node.readResolvConf()};
    const config = withManagedResources(
      context,
      pod,
      generatePodSandboxConfig(pod, node, actions.attempt, {userNamespace: ids, volumes}),
    );
    const shared = {pod, status, sandboxConfig: config, volumes, runtimeHandler, userNamespace: ids};
    const {warnings} = podDns(pod, node);
    if (!actions.createSandbox && actions.sandboxId !== undefined) {
      recordWarnings(context, pod, warnings);
      const podIps = computePodIps(pod, status.ips, context.node);
      return {
        environment: {...shared, sandboxId: actions.sandboxId, sandboxIps: status.ips, podIps, doubt},
      };
    }
    const unprepared = await context.nodeManagers.preparePod(pod, signal);
    if (unprepared !== undefined) {
      context.events({type: 'Warning', ...unprepared, pod});
      return {};
    }
    recordWarnings(context, pod, warnings);
    step = CREATE;
    await context.files.makeLogDirectory(pod);
    const {podSandboxId: sandboxId} = await runtime.runPodSandbox({config, runtimeHandler});
    if (context.actuated.current === undefined) await context.actuated.setPod(pod.spec.resources);
    step = READ_STATUS;
    const {status: created} = await runtime.podSandboxStatus({podSandboxId: sandboxId});
    const ips = sandboxIps(created);
    const podIps = computePodIps(pod, ips, context.node);
    recordWarnings(context, pod, warnings);
    return {
      environment: {...shared, sandboxId, sandboxIps: ips, podIps, doubt: undefined},
      result: {action: 'CreatePodSandbox', target: podRef(pod).name},
    };
  } catch (cause) {
    rethrowUnexpected(cause);
    const {action, reason, event, text} = step;
    context.events({type: 'Warning', reason: event, message: `${text}${messageOf(cause)}`, pod});
    return {result: {action, target: podRef(pod).name, failure: {reason, message: messageOf(cause), cause}}};
  }
}

/** Records warnings about the DNS configuration, which a kubelet repeats with each sync (GetPodDNS). */
function recordWarnings({events}: SyncContext, pod: Pod, warnings: readonly DnsWarning[]): void {
  for (const {reason, message} of warnings) events({type: 'Warning', reason, message, pod});
}
