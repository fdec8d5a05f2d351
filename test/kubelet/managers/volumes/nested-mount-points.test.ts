import {expect, test} from 'vitest';
import type {Container, VolumeMount} from '../../../../src/api/types/v1-pod.js';
import {nestedMountPoints} from '../../../../src/kubelet/managers/volumes/nested-mount-points.js';
import {aPodWith} from './volume-fixtures.js';

/** Returns the nested mount points of the volume `v` with mounts written as `name:path`. */
function nested(...mounts: readonly string[]): readonly string[] {
  const volumeMounts = mounts.map((mount): VolumeMount => {
    const [name = '', mountPath = ''] = mount.split(':');
    return {name, mountPath};
  });
  const containers: readonly Container[] = [{name: 'main', image: 'i', volumeMounts}];
  return nestedMountPoints(aPodWith([], {containers}), 'v');
}

// Proves: VolumeMount.mountPath
test.each([
  ['none', ['v:/etc/v', 'o:/etc/o'], []],
  ['one', ['o:/etc/v/in/o', 'v:/etc/v/'], ['in/o']],
  ['only the outer of two nested paths', ['v:/v', 'a:/v/a', 'b:/v/a/b', 'c:/v/a-c'], ['a', 'a-c']],
  ['none for a sibling path with the same prefix', ['v:/v', 'o:/vo'], []],
  ['one after cleaning the path', ['v:/v', 'o:/x/../v//o'], ['o']],
])('nested mount points: %s', (_title, mounts, expected) => {
  expect(nested(...mounts)).toEqual(expected);
});

test('those of init containers are included, and duplicates are removed', () => {
  const container = (name: string, ...inner: readonly string[]): Container => ({
    name,
    image: 'i',
    volumeMounts: [
      {name: 'v', mountPath: '/v'},
      ...inner.map((path) => ({name: 'o', mountPath: `/v/${path}`})),
    ],
  });
  const pod = aPodWith([], {
    initContainers: [container('init', 'a', 'b')],
    containers: [container('main', 'b', 'c')],
  });
  expect(nestedMountPoints(pod, 'v')).toEqual(['a', 'b', 'c']);
});

test('a mount path outside the container root is rejected', () => {
  expect(() => nested('v:../../etc', 'o:../../etc/o')).toThrow('invalid container mount point ../../etc');
});
