import type {Pod} from '../../api/types/v1-pod.js';
import {hasEnded, type ContainerState, type ContainerStatus} from '../../api/types/v1-status.js';
import type {PodRecord} from '../../kubelet/index.js';
import type {CommandReporter} from '../../cli/output/command-reporter.js';
import {formatPodTitle} from './pod-title.js';
import {mayRestart, restartPolicyOf} from './restart-policy.js';
import type {ShownPod} from './listed-pod.js';

/** Reason of a container that would be in CrashLoopBackOff if a process ran its pod. */
const NOT_RESTARTED = 'NotRestarted';
const NO_PROCESS = 'no kcri process runs this pod';
const MESSAGE = `not restarted: ${NO_PROCESS}`;

/** Message of ImagePullBackOff: the image, and reason and message of the failed pull. */
const PULL_BACK_OFF = /^Back-off pulling image "(?:[^"\\]|\\.)*"(?:: (\w+): (.*))?$/s;

/** Reports whether the status announces that a container is started again, or its spec says so. */
export function announcesRestart(pod: Pod): boolean {
  if (hasEnded(pod.status?.phase)) return false;
  return statusesOf(pod).some((container) => isBackingOff(container) || isToBeRestarted(pod, container));
}

/** Returns a pod that no process runs, with a status that announces no restart and no pull. */
export function withoutRestart(pod: Pod): Pod {
  const {status = {}} = pod;
  const {initContainerStatuses, containerStatuses} = status;
  const change = (container: ContainerStatus): ContainerStatus =>
    isBackingOff(container) ? {...container, state: withoutBackOff(container.state ?? {})} : container;
  return {
    ...pod,
    status: {
      ...status,
      message: status.message ?? (isImageMissing(pod) ? `not started: ${NO_PROCESS}` : MESSAGE),
      ...(initContainerStatuses && {initContainerStatuses: initContainerStatuses.map(change)}),
      ...(containerStatuses && {containerStatuses: containerStatuses.map(change)}),
    },
  };
}

function withoutBackOff({waiting}: ContainerState): ContainerState {
  if (waiting?.reason === 'CrashLoopBackOff') return {waiting: {reason: NOT_RESTARTED, message: MESSAGE}};
  const [, reason = 'ErrImagePull', cause] = PULL_BACK_OFF.exec(waiting?.message ?? '') ?? [];
  const message = `${cause === undefined ? '' : `${cause}; `}not pulled again: ${NO_PROCESS}`;
  return {waiting: {reason, message}};
}

/** Prints a note on each of the pods that no process runs. */
export function reportNotRestarted({info}: Pick<CommandReporter, 'info'>, shown: readonly ShownPod[]): void {
  for (const note of shown.map(notRestartedNote)) if (note !== undefined) info(`kcri: note: ${note}`);
}

/** Returns a note on a pod that no process runs; undefined for other pods. */
function notRestartedNote({listed: {record}, pod, isUnattended = false}: ShownPod): string | undefined {
  if (record === undefined || !isUnattended) return undefined;
  const how = `"${restartCommand(record)}"`;
  const note = `pod "${formatPodTitle(record)}" is not`;
  return isImageMissing(pod)
    ? `${note} started: ${NO_PROCESS}; ${how} pulls its images again`
    : `${note} restarted: ${NO_PROCESS}; ${how} starts it again`;
}

/** Returns the command that runs a pod of kcri again. */
export function restartCommand({manager, source}: PodRecord): string {
  if (manager === 'kubelet') return 'kcri kubelet';
  return `kcri sync ${source === '-' ? 'FILE' : source}`;
}

/** Reports whether the pod waits for images only, so that no container ended. */
function isImageMissing(pod: Pod): boolean {
  return !statusesOf(pod).some(
    (container) =>
      isToBeRestarted(pod, container) ||
      ['CrashLoopBackOff', NOT_RESTARTED].includes(container.state?.waiting?.reason ?? ''),
  );
}

function statusesOf({status = {}}: Pod): readonly ContainerStatus[] {
  const {initContainerStatuses = [], containerStatuses = []} = status;
  return [...initContainerStatuses, ...containerStatuses];
}

function isBackingOff({state}: ContainerStatus): boolean {
  return ['CrashLoopBackOff', 'ImagePullBackOff'].includes(state?.waiting?.reason ?? '');
}

/** Reports whether a container has exited, and its restart policy says that it is started again. */
function isToBeRestarted(pod: Pod, {name, state}: ContainerStatus): boolean {
  const {terminated} = state ?? {};
  if (terminated === undefined) return false;
  const policy = restartPolicyOf(pod, name, 'kcri');
  return policy !== 'unknown' && mayRestart(policy, terminated.exitCode);
}
