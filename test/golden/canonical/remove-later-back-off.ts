import {isDeepStrictEqual} from 'node:util';
import type {ContainerStatus, PodStatus} from '../../../src/api/types/v1-status.js';
import type {JsonObject} from '../../../src/recording/canonical/canonical-calls.js';

const LISTS = ['containerStatuses', 'initContainerStatuses'] as const;

/** Returns the pod without back-offs of containers that started after the recording. */
export function removeLaterBackOff(now: JsonObject, recorded: JsonObject): object {
  const statuses = (pod: JsonObject, list: (typeof LISTS)[number]): readonly ContainerStatus[] =>
    (pod['status'] as unknown as PodStatus)[list] ?? [];
  const lists = LISTS.flatMap((list) => {
    const wanted = statuses(recorded, list);
    const behind = statuses(now, list).map((status, index) => stepBack(status, wanted[index]!));
    return behind.length === 0 ? [] : [[list, behind] as const];
  });
  return {...now, status: {...(now['status'] as JsonObject), ...Object.fromEntries(lists)}};
}

/** Restores the termination before a back-off, unless it is the last state already. */
function stepBack(status: ContainerStatus, {state, lastState}: ContainerStatus): ContainerStatus {
  const end = state?.terminated === undefined ? lastState : state;
  const backsOff = status.state?.waiting?.reason === 'CrashLoopBackOff';
  return backsOff && isDeepStrictEqual(status.lastState, end)
    ? {...status, ...(state && {state}), ...(lastState && {lastState})}
    : status;
}
