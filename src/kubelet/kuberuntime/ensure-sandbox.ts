import type {Pod} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import type {PodActions} from '../container/pod-actions.js';
import type {MountedVolumes} from '../container/pod-filesystem.js';
import {podRef} from '../container/pod-ref.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import type {SyncFailureReason, SyncResult} from '../container/sync-result.js';
import {podDns} from '../network/dns.js';
import {runtimeHandlerOf} from '../references/runtime-handler.js';
import {podAddresses} from './pod-addresses.js';
import {sandboxIps} from './runtime-status.js';
import {sandboxConfig} from './sandbox-config.js';
import type {StartEnvironment} from './start-container.js';
import type {SyncContext} from './sync-context.js';
import {userNamespace} from './user-namespace.js';

/** What a sync starts from. */
export interface SyncInput {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly actions: PodActions;
  readonly volumes: MountedVolumes;
}

/** The sandbox to start containers in, absent after a failure; `result` is absent when nothing had to be done. */
export interface EnsuredSandbox {
  readonly environment?: Omit<StartEnvironment, 'imageVolumes'>;
  readonly result?: SyncResult;
}

/** What is being done, as failures of it are reported. */
interface Step {
  readonly action: SyncResult['action'];
  readonly reason: SyncFailureReason;
  readonly event: string;
  readonly text: string;
}

const CONFIGURE: Step = {
  action: 'ConfigPodSandbox',
  reason: 'ConfigPodSandboxError',
  event: 'FailedCreatePodSandBox',
  text: 'Failed to create pod sandbox: ',
};
const CREATE: Step = {...CONFIGURE, action: 'CreatePodSandbox', reason: 'CreatePodSandboxError'};
const ASK: Step = {...CREATE, event: 'FailedPodSandBoxStatus', text: 'Unable to get pod sandbox status: '};

/** The present sandbox, or a new one, as decided (kuberuntime createPodSandbox). Never rejects. */
export async function ensureSandbox(context: SyncContext, input: SyncInput): Promise<EnsuredSandbox> {
  const {pod, status, actions, volumes} = input;
  const {runtime} = context.services;
  let step = CONFIGURE;
  try {
    const runtimeHandler = runtimeHandlerOf(pod, context.objects);
    const ids = await userNamespace(pod, runtimeHandler, context);
    const config = sandboxConfig(pod, context.node, actions.attempt, ids);
    const shared = {pod, status, sandboxConfig: config, volumes, runtimeHandler, userNamespace: ids};
    if (!actions.createSandbox && actions.sandboxId !== undefined) {
      const podIps = podAddresses(pod, status.ips, context.node);
      return {environment: {...shared, sandboxId: actions.sandboxId, sandboxIps: status.ips, podIps}};
    }
    warnOfDns(context, pod);
    step = CREATE;
    await context.files.makeLogDirectory(pod);
    const {podSandboxId: sandboxId} = await runtime.runPodSandbox({config, runtimeHandler});
    if (context.actuated.current === undefined) await context.actuated.setPod(pod.spec.resources);
    step = ASK;
    const {status: created} = await runtime.podSandboxStatus({podSandboxId: sandboxId});
    const ips = sandboxIps(created);
    const podIps = podAddresses(pod, ips, context.node);
    return {
      environment: {...shared, sandboxId, sandboxIps: ips, podIps},
      result: {action: 'CreatePodSandbox', target: podRef(pod).name},
    };
  } catch (cause) {
    const {action, reason, event, text} = step;
    context.events({type: 'Warning', reason: event, message: `${text}${messageOf(cause)}`, pod});
    return {result: {action, target: podRef(pod).name, failure: {reason, message: messageOf(cause), cause}}};
  }
}

function warnOfDns(context: SyncContext, pod: Pod): void {
  for (const {reason, message} of podDns(pod, context.node).warnings)
    context.events({type: 'Warning', reason, message, pod});
}
