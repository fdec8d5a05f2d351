import {compareQuantities} from '../../../../../api/quantity.js';
import type {Quantity} from '../../../../../api/types/v1-meta.js';
import type {
  ClaimCondition,
  ResizedClaim,
  ResizedClaimStatus,
} from '../../../../contract/volumes/resized-claim.js';

/** Annotation of a claim whose controller has done the whole expansion (NodeExpansionNotRequired). */
const NOT_REQUIRED = 'volume.kubernetes.io/node-expansion-not-required';

/** Conditions about a resize (knownResizeConditions). */
const RESIZE_CONDITIONS: ReadonlySet<string> = new Set([
  'FileSystemResizePending',
  'Resizing',
  'ControllerResizeError',
  'NodeResizeError',
]);

/** Decision about the resize of a claim on this node. */
export interface ResizeCheck {
  readonly isAllowed: boolean;
  /** True if the status of the claim has the new size already: perhaps another node has enlarged the volume. */
  readonly isUpdated: boolean;
  /** True if a failure makes the size infeasible: the user has requested another one meanwhile. */
  readonly isInfeasibleOnFailure: boolean;
}

/** Returns the size of the volume in the status of a claim; 0 if it has none. */
export function claimSizeOf({status}: ResizedClaim): Quantity {
  return status?.capacity?.['storage'] ?? '0';
}

/** Reports whether the controller notes in the status of a claim what is left of a resize (checkForRecoveryFromExpansion). */
export function isRecoverable({status}: ResizedClaim): boolean {
  return resizeStatusOf(status) !== '' || status?.allocatedResources !== undefined;
}

/** Decides whether the volume of a claim may be enlarged on the node (node_expander.go runPreCheck). */
export function checkResize(claim: ResizedClaim, newSize: Quantity, hasFailed: boolean): ResizeCheck {
  const {metadata, spec, status} = claim;
  const resizeStatus = resizeStatusOf(status);
  const requested = spec.resources?.requests?.['storage'] ?? '0';
  const isUpdated = compareQuantities(claimSizeOf(claim), newSize) >= 0 && resizeStatus === '';
  const isShared = spec.accessModes?.includes('ReadWriteMany') === true;
  const isForEveryNode = isUpdated && isShared && metadata.annotations?.[NOT_REQUIRED] === undefined;
  return {
    isAllowed: isForEveryNode || isNodeResizePending(status),
    isUpdated,
    isInfeasibleOnFailure: hasFailed && compareQuantities(requested, newSize) !== 0,
  };
}

/** Reports whether a volume is still to be enlarged on the node. */
export function isNodeResizePending(status?: ResizedClaimStatus): boolean {
  return ['NodeResizePending', 'NodeResizeInProgress'].includes(resizeStatusOf(status));
}

function resizeStatusOf(status: ResizedClaimStatus = {}): string {
  return status.allocatedResourceStatuses?.['storage'] ?? '';
}

/** Returns the status of a claim while its volume is enlarged on the node (MarkNodeExpansionInProgress). */
export function inProgress(status: ResizedClaimStatus = {}): ResizedClaimStatus {
  return withResizeStatus(status, 'NodeResizeInProgress');
}

/** Returns the status after a failure, which other sizes need not have (MarkNodeExpansionFailedCondition). */
export function failed(
  status: ResizedClaimStatus = {},
  failure: {readonly message: string; readonly isInfeasible: boolean; readonly now: string},
): ResizedClaimStatus {
  const condition: ClaimCondition = {
    ...{type: 'NodeResizeError', status: 'True', lastTransitionTime: failure.now},
    message: `failed to expand pvc with ${failure.message}`,
  };
  const {conditions = []} = status;
  const isKnown = conditions.some(({type, status: value}) => type === condition.type && value === 'True');
  const others = conditions.filter(({type}) => type !== condition.type);
  const next = {...status, conditions: isKnown ? conditions : [...others, condition]};
  return failure.isInfeasible ? withResizeStatus(next, 'NodeResizeInfeasible') : next;
}

/** Returns the status of a claim whose volume has a new size (MarkNodeExpansionFinishedWithRecovery). */
export function finished(status: ResizedClaimStatus = {}, newSize: Quantity): ResizedClaimStatus {
  const others = Object.entries(status.allocatedResourceStatuses ?? {}).filter(
    ([name]) => name !== 'storage',
  );
  const conditions = status.conditions?.filter(({type}) => !RESIZE_CONDITIONS.has(type));
  return {
    ...status,
    capacity: {...status.capacity, storage: newSize},
    allocatedResourceStatuses: others.length === 0 ? undefined : Object.fromEntries(others),
    ...(conditions && {conditions}),
  };
}

function withResizeStatus(status: ResizedClaimStatus, resizeStatus: string): ResizedClaimStatus {
  const statuses = {...status.allocatedResourceStatuses, storage: resizeStatus};
  return {...status, allocatedResourceStatuses: statuses};
}
