import type {
  ClaimCondition,
  ModifyVolumeStatus,
  ResizedClaimStatus,
} from '../../../contract/volumes/resized-claim.js';

/** Conditions about a change of attributes (clearModifyVolumeConditions). */
const MODIFY_CONDITIONS: ReadonlySet<string> = new Set(['ModifyingVolume', 'ModifyVolumeError']);

/** Returns what the status of a claim says about the attributes of its volume. */
export function attributesStatus(
  status: ResizedClaimStatus = {},
): Pick<ResizedClaimStatus, 'currentVolumeAttributesClassName' | 'modifyVolumeStatus' | 'conditions'> {
  const {currentVolumeAttributesClassName, modifyVolumeStatus, conditions = []} = status;
  const own = conditions.filter(({type}) => MODIFY_CONDITIONS.has(type));
  return {
    ...(currentVolumeAttributesClassName !== undefined && {currentVolumeAttributesClassName}),
    ...(modifyVolumeStatus !== undefined && {modifyVolumeStatus}),
    ...(own.length > 0 && {conditions: own}),
  };
}

/** Returns the status while the class is not known (PersistentVolumeClaimModifyVolumePending). */
export function attributesPending(status: ResizedClaimStatus): ResizedClaimStatus {
  return {...status, modifyVolumeStatus: {...status.modifyVolumeStatus, status: 'Pending'}};
}

/** Returns the status while a driver changes attributes (markControllerModifyVolumeStatus). */
export function attributesInProgress(
  status: ResizedClaimStatus,
  target: string,
  now: string,
): ResizedClaimStatus {
  const condition = aCondition('ModifyingVolume', 'ModifyVolume operation in progress.', now);
  return withModifyStatus(status, {targetVolumeAttributesClassName: target, status: 'InProgress'}, [
    condition,
  ]);
}

/** Returns the status after a failure (updateConditionBasedOnError); infeasible ones are not repeated soon. */
export function attributesFailed(
  status: ResizedClaimStatus,
  {
    message,
    isInfeasible,
    now,
  }: {readonly message: string; readonly isInfeasible: boolean; readonly now: string},
): ResizedClaimStatus {
  const text = `ModifyVolume failed with error: ${message}. Waiting for retry.`;
  const conditions = [
    ...(isInfeasible ? [aCondition('ModifyingVolume', text, now)] : conditionsOf(status, 'ModifyingVolume')),
    aCondition('ModifyVolumeError', text, now),
  ];
  const modify: ModifyVolumeStatus = {
    ...status.modifyVolumeStatus,
    status: isInfeasible ? 'Infeasible' : 'InProgress',
  };
  return withModifyStatus(status, modify, conditions);
}

/** Returns the status of a claim whose volume has the attributes (markControllerModifyVolumeCompleted). */
export function attributesChanged(status: ResizedClaimStatus, current: string): ResizedClaimStatus {
  return {
    ...withModifyStatus(status, undefined, []),
    currentVolumeAttributesClassName: current,
  };
}

function withModifyStatus(
  {conditions = [], ...status}: ResizedClaimStatus,
  modifyVolumeStatus: ModifyVolumeStatus | undefined,
  added: readonly ClaimCondition[],
): ResizedClaimStatus {
  const all = [...conditions.filter(({type}) => !MODIFY_CONDITIONS.has(type)), ...added];
  return {
    ...status,
    modifyVolumeStatus,
    ...(all.length > 0 && {conditions: all}),
  };
}

function conditionsOf({conditions = []}: ResizedClaimStatus, wanted: string): readonly ClaimCondition[] {
  return conditions.filter(({type}) => type === wanted);
}

function aCondition(type: string, message: string, now: string): ClaimCondition {
  return {...{type, status: 'True', message}, lastTransitionTime: now};
}
