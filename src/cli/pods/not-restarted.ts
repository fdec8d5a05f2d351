import type {ContainerStatus, PodStatus} from '../../api/types/v1-status.js';
import type {PodRecord} from '../../kubelet/index.js';
import {formatPodTitle} from '../sync/view/sync-text.js';

/** Reason of a container that would be in CrashLoopBackOff if a process ran its pod. */
const NOT_RESTARTED = 'NotRestarted';
const MESSAGE = 'not restarted: no kcri process runs this pod';

/** Reports whether the status announces that a container is started again. */
export function announcesRestart(status: PodStatus): boolean {
  return statusesOf(status).some(isBackingOff);
}

/** Returns the status of a pod that no process runs: it announces no restart. */
export function withoutRestart(status: PodStatus): PodStatus {
  const change = (container: ContainerStatus): ContainerStatus =>
    isBackingOff(container)
      ? {...container, state: {waiting: {reason: NOT_RESTARTED, message: MESSAGE}}}
      : container;
  const {initContainerStatuses, containerStatuses} = status;
  return {
    ...status,
    message: status.message ?? MESSAGE,
    ...(initContainerStatuses && {initContainerStatuses: initContainerStatuses.map(change)}),
    ...(containerStatuses && {containerStatuses: containerStatuses.map(change)}),
  };
}

/** Returns a note on a pod that no process runs; undefined for other pods. */
export function notRestartedNote(record: PodRecord | undefined, status: PodStatus = {}): string | undefined {
  const isLeft = statusesOf(status).some(({state}) => state?.waiting?.reason === NOT_RESTARTED);
  if (record === undefined || !isLeft) return undefined;
  const {manager, source} = record;
  const how =
    manager === 'kubelet'
      ? 'start "kcri kubelet" again'
      : `"kcri sync ${source === '-' ? 'FILE' : source}" starts it again`;
  return `pod "${formatPodTitle(record)}" is ${MESSAGE}; ${how}`;
}

function statusesOf({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): readonly ContainerStatus[] {
  return [...initContainerStatuses, ...containerStatuses];
}

function isBackingOff({state}: ContainerStatus): boolean {
  return state?.waiting?.reason === 'CrashLoopBackOff';
}
