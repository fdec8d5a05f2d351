import {containersOf, findContainer} from '../../api/pod-containers.js';
import type {Container, Pod} from '../../api/types/v1-pod.js';
import {findByName} from '../../base/by-name.js';
import type {CriCall} from '../contract/observation/observe-cri-calls.js';
import type {PodActions} from '../contract/pod-actions.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../contract/runtime-pod-status.js';
import {isInitContainer} from '../managers/kuberuntime/actions/kill-container.js';
import {networkNamespace} from '../managers/kuberuntime/config/namespaces.js';
import {effectiveRestartPolicy, exitCode} from '../managers/kuberuntime/compute/restart-policy.js';

/** Reason for a call. */
export interface PlannedReason {
  readonly text: string;
  /** Kubelet function that makes the call, and the step of SyncPod. */
  readonly rule: string;
}

/** Part of a plan that contains a call. */
export type PlanStep =
  /** Termination of a pod, with the reason. */
  | {readonly kind: 'termination'; readonly text: string}
  /** Sync pass over the pod; `actions` is undefined for a pod that has ended. */
  | {
      readonly kind: 'pass';
      readonly pod: Pod;
      /** Last synced version of the pod, with the same UID. */
      readonly before: Pod | undefined;
      readonly runtime: RuntimePodStatus;
      readonly actions: PodActions | undefined;
    };

type Pass = Extract<PlanStep, {kind: 'pass'}>;
type Call = Pick<CriCall, 'method' | 'request'>;

/** Returns the reason for a call in a step; `container` is the name of the container that the call concerns. */
export function explainCall(call: Call, step: PlanStep, container: string | undefined): PlannedReason {
  return step.kind === 'termination'
    ? {text: step.text, rule: TERMINATION_RULES[call.method] ?? 'SyncTerminatingPod'}
    : explainInPass(call, step, container);
}

const TERMINATION_RULES: Readonly<Record<string, string>> = {
  StopContainer: 'SyncTerminatingPod: killContainer with the grace period',
  StopPodSandbox: 'SyncTerminatingPod: killPodWithSyncResult, after the containers',
  RemoveContainer: 'container garbage collection of a deleted pod: removeContainer',
  RemovePodSandbox: 'container garbage collection of a deleted pod: removeSandbox',
};

/** Returns why a pod of the same name is terminated; `changed` are the changed fields of its manifest. */
export function explainReplacement(changed: readonly string[]): string {
  const what = 'replaced: the manifest has changed';
  return changed.length === 0 ? what : `${what} (${changed.join(', ')})`;
}

function explainInPass({method, request}: Call, pass: Pass, container: string | undefined): PlannedReason {
  switch (method) {
    case 'StopContainer':
      return stopReason(pass, String(request['containerId']));
    case 'StopPodSandbox':
      return podStopReason(pass);
    case 'RemoveContainer':
      return removalReason(pass, String(request['containerId']));
    case 'RunPodSandbox':
      return {text: sandboxReason(pass), rule: 'SyncPod step 4: createPodSandbox'};
    case 'PullImage':
      return pullReason(pass, request);
    case 'UpdateContainerResources':
    case 'UpdatePodSandboxResources':
      return RESIZE;
    default:
      return startReason(pass, method, container);
  }
}

function stopReason(pass: Pass, id: string): PlannedReason {
  const kill = pass.actions?.containersToKill.find((each) => each.id === id);
  if (kill !== undefined)
    return {text: changeText(pass, kill.name) ?? kill.message, rule: 'SyncPod step 3: killContainer'};
  if (pass.actions?.containersToReset.some(({instance}) => instance.id === id) === true) return RESET;
  return podStopReason(pass);
}

const RESET: PlannedReason = {
  text: 'a restart rule of an exited container restarts all containers',
  rule: 'SyncPod: RestartAllContainers',
};

const RESIZE: PlannedReason = {
  text: 'its resources have changed and are resized in place',
  rule: 'SyncPod step 7: doPodResizeAction',
};

/** Returns why the whole pod is stopped. */
function podStopReason(pass: Pass): PlannedReason {
  if (pass.actions === undefined)
    return {
      text: 'the pod has ended, and its remaining sandboxes and containers are stopped',
      rule: 'SyncTerminatingPod: killPod',
    };
  const text = pass.actions.createSandbox ? sandboxReason(pass) : 'no container of the pod needs to run';
  return {text, rule: 'SyncPod step 2: killPodWithSyncResult'};
}

function removalReason({pod, runtime, actions}: Pass, id: string): PlannedReason {
  if (actions?.containersToReset.some(({instance}) => instance.id === id) === true) return RESET;
  const instance = runtime.containers.find((each) => each.id === id);
  const newest = instance && findContainerStatus(runtime, instance.name);
  if (newest !== instance)
    return {text: 'only the newest dead instance of a container is kept', rule: 'podContainerDeletor'};
  return instance !== undefined && isInitContainer(pod, instance.name)
    ? {text: 'init containers run again in a new sandbox', rule: 'SyncPod step 2: purgeInitContainers'}
    : {text: 'the instance is no longer needed', rule: 'removeContainer'};
}

/** Returns why the pod needs a sandbox, in the order of the checks in PodSandboxChanged. */
function sandboxReason({pod, runtime}: Pass): string {
  const [newest] = runtime.sandboxes;
  if (newest === undefined) return 'the pod has no sandbox';
  if (newest.state !== 'SANDBOX_READY') return 'the sandbox is not ready';
  if (runtime.sandboxes.filter(({state}) => state === 'SANDBOX_READY').length > 1)
    return 'several sandboxes of the pod are ready';
  return (newest.linux?.namespaces?.options?.network ?? 'POD') === networkNamespace(pod)
    ? 'the sandbox has no address'
    : 'the sandbox is in another network';
}

function pullReason({pod}: Pass, request: Call['request']): PlannedReason {
  const {image = '', userSpecifiedImage = ''} = (request['image'] ?? {}) as Readonly<Record<string, string>>;
  const container = containersOf(pod).find((each) => [image, userSpecifiedImage].includes(each.image));
  const policy = container?.imagePullPolicy;
  const text =
    policy === 'Always'
      ? 'imagePullPolicy is Always'
      : `the image is not present${policy === undefined ? '' : `, and imagePullPolicy is ${policy}`}`;
  return {text, rule: 'EnsureImageExists: shouldPullImage'};
}

function startReason(pass: Pass, method: string, name: string | undefined): PlannedReason {
  const container = name === undefined ? undefined : findContainer(pass.pod, name);
  const isInit = name !== undefined && isInitContainer(pass.pod, name);
  const rule = `SyncPod step ${isInit ? '6' : '8'}: startContainer`;
  const text = container === undefined ? 'the pod specifies it' : containerReason(pass, container);
  return {text, rule: method === 'CreateContainer' ? rule : `${rule}, after it is created`};
}

function containerReason(pass: Pass, container: Container): string {
  const changed = findByName(pass.actions?.containersToKill ?? [], container.name) !== undefined;
  const newest = findContainerStatus(pass.runtime, container.name);
  if (changed) return changeText(pass, container.name) ?? 'its instance was killed';
  if (newest === undefined) return 'it has not been created yet';
  return pass.actions?.createSandbox === true
    ? 'it must run in the new sandbox'
    : stateReason(pass.pod, container, newest);
}

function stateReason(pod: Pod, container: Container, newest: RuntimeContainerStatus): string {
  switch (newest.state) {
    case 'CONTAINER_EXITED':
      return `it exited with code ${exitCode(newest)}, and its restartPolicy is ${effectiveRestartPolicy(pod, container)}`;
    case 'CONTAINER_CREATED':
      return 'it was created but never started';
    case 'CONTAINER_RUNNING':
      return 'its instance is replaced';
    case 'CONTAINER_UNKNOWN':
      return 'its state is unknown';
  }
}

/** Describes a changed image, the only change that a container can have under the same name (HashContainer). */
function changeText({before, pod, runtime, actions}: Pass, name: string): string | undefined {
  const kill = findByName(actions?.containersToKill ?? [], name);
  if (kill?.reason !== 'Changed') return undefined;
  const imageIn = (of: Pod | undefined): string | undefined => of && findContainer(of, name)?.image;
  // The spec of a pod that another kubelet has left is unknown.
  const present = findContainerStatus(runtime, name)?.cri.image?.image;
  return `image changed: "${imageIn(before) ?? present ?? '?'}" → "${imageIn(pod) ?? '?'}"`;
}
