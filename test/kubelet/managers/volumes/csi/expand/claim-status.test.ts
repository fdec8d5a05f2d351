import {expect, test} from 'vitest';
import type {
  ResizedClaim,
  ResizedClaimStatus,
} from '../../../../../../src/kubelet/contract/volumes/resized-claim.js';
import {
  checkResize,
  failed,
  finished,
  inProgress,
  isRecoverable,
} from '../../../../../../src/kubelet/managers/volumes/csi/expand/claim-status.js';

function aClaim(status: ResizedClaimStatus, spec: ResizedClaim['spec'] = {}, annotations = {}): ResizedClaim {
  return {
    metadata: {name: 'c', namespace: 'default', uid: 'u', resourceVersion: '1', annotations},
    spec: {resources: {requests: {storage: '2Gi'}}, ...spec},
    status,
  };
}

const withStatus = (storage: string): ResizedClaimStatus => ({
  capacity: {storage: '1Gi'},
  allocatedResourceStatuses: {storage},
});
const UPDATED = {capacity: {storage: '2Gi'}};
const SHARED = {accessModes: ['ReadWriteMany']};

test.each<[string, ResizedClaim, boolean, boolean]>([
  ['pending on the node', aClaim(withStatus('NodeResizePending')), true, false],
  ['in progress on the node', aClaim(withStatus('NodeResizeInProgress')), true, false],
  ['in progress in the controller', aClaim(withStatus('ControllerResizeInProgress')), false, false],
  ['infeasible', aClaim(withStatus('NodeResizeInfeasible')), false, false],
  ['without a status', aClaim({capacity: {storage: '1Gi'}}), false, false],
  ['done', aClaim(UPDATED), false, true],
  ['done on another node of a shared volume', aClaim(UPDATED, SHARED), true, true],
  [
    'done by the controller of a shared volume',
    aClaim(UPDATED, SHARED, {'volume.kubernetes.io/node-expansion-not-required': ''}),
    ...([false, true] as const),
  ],
])('a resize that is %s', (_title, claim, isAllowed, isUpdated) => {
  expect(checkResize(claim, '2Gi', false)).toEqual({isAllowed, isUpdated, isInfeasibleOnFailure: false});
});

test.each([
  [true, '3Gi', true],
  [true, '2048Mi', false],
  [false, '3Gi', false],
])(
  'after a failure %s, a request of %s makes another one infeasible: %s',
  (hasFailed, storage, isInfeasible) => {
    const claim = aClaim(withStatus('NodeResizePending'), {resources: {requests: {storage}}});
    expect(checkResize(claim, '2Gi', hasFailed).isInfeasibleOnFailure).toBe(isInfeasible);
  },
);

test.each<[ResizedClaimStatus, boolean]>([
  [{}, false],
  [{allocatedResources: {storage: '2Gi'}}, true],
  [withStatus('NodeResizePending'), true],
])('the controller notes the resize in the status %j: %s', (status, expected) => {
  expect(isRecoverable(aClaim(status))).toBe(expected);
});

test('statuses of other resources and other conditions stay', () => {
  const other = {type: 'Other', status: 'True'};
  const status = {
    ...{phase: 'Bound', capacity: {storage: '1Gi', x: '1'}},
    allocatedResourceStatuses: {storage: 'NodeResizePending', x: 'Y'},
    conditions: [other, {type: 'Resizing', status: 'True'}],
  };
  expect(inProgress(status)).toMatchObject({
    allocatedResourceStatuses: {storage: 'NodeResizeInProgress', x: 'Y'},
  });
  expect(finished(status, '2Gi')).toEqual({
    ...{phase: 'Bound', capacity: {storage: '2Gi', x: '1'}},
    allocatedResourceStatuses: {x: 'Y'},
    conditions: [other],
  });
});

test('a condition of a failure keeps its time while it lasts', () => {
  const failure = {message: 'broken', isInfeasible: false, now: '2026-05-01T12:00:00Z'};
  const first = failed(withStatus('NodeResizeInProgress'), failure);
  expect(first).toMatchObject({
    allocatedResourceStatuses: {storage: 'NodeResizeInProgress'},
    conditions: [
      {type: 'NodeResizeError', lastTransitionTime: failure.now, message: 'failed to expand pvc with broken'},
    ],
  });
  expect(failed(first, {...failure, now: '2026-05-01T13:00:00Z'})).toEqual(first);
});
