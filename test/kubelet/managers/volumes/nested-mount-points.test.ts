import {expect, test} from 'vitest';
import type {Container, VolumeMount} from '../../../../src/api/types/v1-pod.js';
import {nestedMountPoints} from '../../../../src/kubelet/managers/volumes/nested-mount-points.js';
import {aPodWith} from './volume-fixtures.js';

/** Of the volume `v`, with mounts as in `name:path`. */
function nested(...mounts: readonly string[]): readonly string[] {
  const volumeMounts = mounts.map((mount): VolumeMount => {
    const [name = '', mountPath = ''] = mount.split(':');
    return {name, mountPath};
  });
  const containers: readonly Container[] = [{name: 'main', image: 'i', volumeMounts}];
  return nestedMountPoints(aPodWith([], {containers}), 'v');
}

test.each([
  ['none', ['v:/etc/v', 'o:/etc/o'], []],
  ['one', ['o:/etc/v/in/o', 'v:/etc/v/'], ['in/o']],
  ['the outer of two', ['v:/v', 'a:/v/a', 'b:/v/a/b', 'c:/v/a-c'], ['a', 'a-c']],
  ['no neighbour of a similar name', ['v:/v', 'o:/vo'], []],
  ['after the path is cleaned', ['v:/v', 'o:/x/../v//o'], ['o']],
])('volumes in the volume: %s', (_title, mounts, expected) => {
  expect(nested(...mounts)).toEqual(expected);
});

test('those of init containers count too, and one that is in both is one', () => {
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

test('a mount path that climbs out of the container is refused', () => {
  expect(() => nested('v:../../etc', 'o:../../etc/o')).toThrow('invalid container mount point ../../etc');
});
