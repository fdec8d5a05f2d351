import {expect, test} from 'vitest';
import type {CsiVolume} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {highestVersion} from '../../../../../src/kubelet/managers/volumes/csi/driver-version.js';
import {
  changesGroup,
  lifecycleProblem,
  volumeCapability,
} from '../../../../../src/kubelet/managers/volumes/csi/volume-capability.js';
import {aPod} from '../../../../fakes/a-pod.js';

const aVolume = (more: Partial<CsiVolume> = {}): CsiVolume => ({
  ...{pod: aPod(), name: 'pv', specName: 'v', driver: 'd', handle: 'h', isEphemeral: false, readOnly: false},
  ...{fsType: 'ext4', attributes: {}, accessModes: ['ReadWriteOnce'], mountOptions: ['noatime']},
  ...more,
});

test.each([
  ['ReadWriteOnce', 'SINGLE_NODE_WRITER', 'SINGLE_NODE_MULTI_WRITER'],
  ['ReadWriteOncePod', 'SINGLE_NODE_WRITER', 'SINGLE_NODE_SINGLE_WRITER'],
  ['ReadOnlyMany', 'MULTI_NODE_READER_ONLY', 'MULTI_NODE_READER_ONLY'],
  ['ReadWriteMany', 'MULTI_NODE_MULTI_WRITER', 'MULTI_NODE_MULTI_WRITER'],
] as const)('%s is %s, and %s for a driver that knows more modes', (mode, usual, other) => {
  const volume = aVolume({accessModes: [mode, 'ReadWriteMany']});
  const mount = {fsType: 'ext4', mountFlags: ['noatime']};
  expect(volumeCapability(volume, new Set(), 7)).toEqual({accessMode: {mode: usual}, mount});
  expect(volumeCapability(volume, new Set(['SINGLE_NODE_MULTI_WRITER']), 7)).toEqual({
    accessMode: {mode: other},
    mount,
  });
});

test('a driver with VOLUME_MOUNT_GROUP gets the group, and the kubelet does not change it', () => {
  const capabilities = new Set(['VOLUME_MOUNT_GROUP'] as const);
  expect(volumeCapability(aVolume(), capabilities, 7).mount).toMatchObject({volumeMountGroup: '7'});
  expect(volumeCapability(aVolume(), capabilities, undefined).mount).not.toHaveProperty('volumeMountGroup');
  expect(changesGroup(aVolume(), 'File', capabilities)).toBe(false);
});

test.each<[string, Partial<CsiVolume>, boolean]>([
  ['None', {}, false],
  ['File', {fsType: ''}, true],
  ['File', {readOnly: true}, false],
  ['ReadWriteOnceWithFSType', {}, true],
  ['ReadWriteOnceWithFSType', {fsType: ''}, false],
  ['ReadWriteOnceWithFSType', {accessModes: ['ReadWriteMany']}, false],
  ['ReadWriteOnceWithFSType', {accessModes: [], isEphemeral: true}, true],
])('with the policy %s, the group of %j changes: %s', (policy, volume, expected) => {
  expect(changesGroup(aVolume(volume), policy, new Set())).toBe(expected);
});

test.each<[boolean, readonly string[] | undefined, string | undefined]>([
  [false, undefined, undefined],
  [false, ['Persistent'], undefined],
  [false, ['Ephemeral'], 'volume mode "Persistent" not supported by driver d (only supports ["Ephemeral"])'],
  [true, undefined, 'volume mode "Ephemeral" not supported by driver d (no CSIDriver object)'],
  [true, ['Persistent', 'Ephemeral'], undefined],
])(
  'a volume (ephemeral: %s) of a driver with the modes %j has the problem %s',
  (isEphemeral, modes, problem) => {
    const driver = modes && {volumeLifecycleModes: modes};
    expect(lifecycleProblem(aVolume({isEphemeral}), driver)).toBe(problem);
  },
);

test.each<[readonly string[], readonly number[] | string]>([
  [
    ['1.0.0', '1.2'],
    [1, 2],
  ],
  [
    ['1.9.0', '2.0.0'],
    [1, 9, 0],
  ],
  [['0.3.0'], 'highest supported version reported is 0.3.0, must be v1.x'],
  [['9.0'], 'could not find a highest supported version from versions ([9.0]) reported: <nil>'],
])('of the versions %j, %j is used', (versions, expected) => {
  expect(highestVersion(versions)).toEqual(expected);
});
