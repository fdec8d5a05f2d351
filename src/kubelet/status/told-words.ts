import type {PodStatus} from '../../api/v1-status.js';

/** What was told of the instances that have ended, by the container ID that statuses have. */
export function toldWords({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): ReadonlyMap<string, string> {
  const ends = [...initContainerStatuses, ...containerStatuses].flatMap(({state, lastState}) => [
    state?.terminated,
    lastState?.terminated,
  ]);
  return new Map(
    ends.flatMap((end) =>
      end?.containerID === undefined || end.message === undefined
        ? []
        : [[end.containerID, end.message] as const],
    ),
  );
}
