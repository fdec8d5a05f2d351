import type {PodStatus} from '../../../../api/types/v1-status.js';

/** Returns the published messages of terminated instances by container ID, in the form of statuses. */
export function publishedTerminationMessages({
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
