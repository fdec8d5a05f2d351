import type {ContainerStatus, PodStatus} from '../../../../api/types/v1-status.js';

/** Returns the status without the restarts that these instances counted, which it may show as running. Pure. */
export function revertRestarts(status: PodStatus, ids: readonly string[]): PodStatus {
  const revert = (each: ContainerStatus): ContainerStatus =>
    ids.some((id) => each.containerID?.endsWith(`://${id}`) === true)
      ? {...each, restartCount: Math.max(0, each.restartCount - 1)}
      : each;
  const {containerStatuses, initContainerStatuses} = status;
  return {
    ...status,
    ...(containerStatuses && {containerStatuses: containerStatuses.map(revert)}),
    ...(initContainerStatuses && {initContainerStatuses: initContainerStatuses.map(revert)}),
  };
}
