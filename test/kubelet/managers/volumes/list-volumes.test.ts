import {expect, test} from 'vitest';
import {NO_OBJECTS} from '../../../../src/kubelet/contract/api-objects.js';
import {listVolumes} from '../../../../src/kubelet/managers/volumes/list-volumes.js';
import {aPodWith} from './volume-fixtures.js';

test('volumes have the names of their plugins, and their claims', () => {
  const pod = aPodWith([
    {name: 'a', configMap: {name: 'c'}},
    {name: 'b', persistentVolumeClaim: {claimName: 'claim'}},
    {name: 'c', csi: {driver: 'csi.example.com'}},
    {name: 'd'},
    {name: 'e', flocker: {}},
    {name: 'f', flexVolume: {driver: 'example.com/box'}},
  ]);
  const options = {node: {rootDir: '/k'}, objects: NO_OBJECTS, isMounted: (name: string) => name === 'a'};
  expect(listVolumes(pod, options)).toEqual([
    {
      ...{name: 'a', plugin: 'kubernetes.io/configmap', path: '/k/pods/u1/volumes/kubernetes.io~configmap/a'},
      ...{claim: undefined, isMounted: true},
    },
    {
      ...{name: 'b', plugin: 'kcri/claim-directory', path: '/k/claims/default/claim'},
      ...{claim: 'claim', isMounted: false},
    },
    {
      ...{name: 'c', plugin: 'kubernetes.io/csi:csi.example.com'},
      ...{path: '/k/pods/u1/volumes/kubernetes.io~csi/c/mount', claim: undefined, isMounted: false},
    },
    {
      ...{name: 'd', plugin: 'kubernetes.io/empty-dir', path: '/k/pods/u1/volumes/kubernetes.io~empty-dir/d'},
      ...{claim: undefined, isMounted: false},
    },
    {name: 'e', plugin: undefined, path: '', claim: undefined, isMounted: false},
    {
      ...{name: 'f', plugin: 'example.com/box', path: '/k/pods/u1/volumes/example.com~box/f'},
      ...{claim: undefined, isMounted: false},
    },
  ]);
});
