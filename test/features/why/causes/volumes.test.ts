import {describe, expect, test} from 'vitest';
import {diagnose} from '../../../../src/features/why/causes/diagnose.js';
import {aSnapshot, NOW} from '../a-snapshot.js';

describe('a volume that cannot be enlarged while its pod runs', () => {
  const event = (reason: string, message: string, at = NOW, type: 'Normal' | 'Warning' = 'Warning') => ({
    ...{type, reason, message, count: 1},
    ...{firstTimestamp: at, lastTimestamp: at},
  });
  const failure =
    'MountVolume.Setup failed while expanding volume for volume "pvc-1" : Expander.NodeExpand failed to expand the volume : x';

  test.each([
    [
      'VolumeResizeFailed',
      'NodeExpandVolume.NodeExpandVolume failed for volume "pv" : rpc error: code = Internal desc = full',
      'volume pv cannot be enlarged: rpc error: code = Internal desc = full',
    ],
    [
      'VolumeResizeFailed',
      'resize volume "pvc-1" by resizer "dirs.example.com" failed: it is full',
      'volume pvc-1 cannot be enlarged: it is full',
    ],
    [
      'FileSystemResizeFailed',
      'MountVolume.NodeExpandVolume failed for volume "pv" requested read-only file system',
      'volume pv cannot be enlarged: requested read-only file system',
    ],
    [
      'VolumeResizeFailed',
      'PersistentVolumeClaim "default/data" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity (16Mi)',
      'the change of the claim default/data is refused: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity (16Mi)',
    ],
    [
      'ClaimChangeRefused',
      'PersistentVolumeClaim "default/data" is invalid: spec: Forbidden: spec is immutable',
      'the change of the claim default/data is refused: spec: Forbidden: spec is immutable',
    ],
    [
      'VolumeModifyFailed',
      'VAC gold referenced in PVC is for driver x',
      'the attributes of a volume cannot be changed: "VAC gold referenced in PVC is for driver x"',
    ],
    ['VolumeResizeFailed', 'no reason', 'a volume cannot be enlarged: "no reason"'],
    [
      'FailedMount',
      failure,
      'volume pvc-1 cannot be enlarged on this node: Expander.NodeExpand failed to expand the volume : x',
    ],
  ])('%s: %s', (reason, message, cause) => {
    const found = diagnose(aSnapshot({events: [event(reason, message)]}));
    expect(found).toEqual([
      expect.objectContaining({
        severity: 'warning',
        cause,
        next: 'the containers run on with the volume as it is',
      }),
    ]);
  });

  test.each([
    [
      'was enlarged since',
      [
        event('VolumeResizeFailed', 'full', '2026-11-27T12:40:00Z'),
        event('FileSystemResizeSuccessful', 'done', NOW, 'Normal'),
      ],
    ],
    ['was enlarged before the container started', [event('FailedMount', failure, '2026-11-27T11:59:59Z')]],
    ['failed long ago', [event('VolumeResizeFailed', 'full', '2026-11-27T11:44:59Z')]],
    ['was mounted late', [event('FailedMount', 'MountVolume.SetUp failed for volume "d" : x')]],
  ])('is no news if it %s', (_, events) => {
    expect(diagnose(aSnapshot({events}))).toEqual([]);
  });

  test('is no answer about one container', () => {
    expect(diagnose(aSnapshot({events: [event('VolumeResizeFailed', 'full')]}), 'main')).toEqual([]);
  });
});
