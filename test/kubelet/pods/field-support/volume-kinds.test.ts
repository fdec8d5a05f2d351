import {describe, expect, test} from 'vitest';
import {describeFieldError} from '../../../../src/api/field-error.js';
import {volumeSource, type Volume} from '../../../../src/api/types/v1-volumes.js';
import {unsupportedFields} from '../../../../src/kubelet/pods/field-support/unsupported-fields.js';
import {aPod} from '../../../fakes/a-pod.js';

const removed = (driver: string): string =>
  `Kubernetes has removed volumes of this kind; use the CSI driver ${driver}`;
const WITHOUT_DRIVER = 'Kubernetes has removed volumes of this kind, without a CSI driver in place of them';

/** What the spec of a pod must use in place of kinds that kcri does not mount. */
const REJECTED: Readonly<Record<string, string>> = {
  cephfs: removed('cephfs.csi.ceph.com'),
  flocker: WITHOUT_DRIVER,
  gitRepo:
    'Kubernetes 1.36 mounts no gitRepo volumes, and the feature gate GitRepoVolumeDriver cannot be enabled; clone into an emptyDir in an init container',
  glusterfs: WITHOUT_DRIVER,
  photonPersistentDisk: WITHOUT_DRIVER,
  quobyte: removed('csi.quobyte.com'),
  rbd: removed('rbd.csi.ceph.com'),
  scaleIO: removed('csi-vxflexos.dellemc.com'),
  storageos: WITHOUT_DRIVER,
};

describe('a volume in the spec of a pod', () => {
  test.each(Object.keys(volumeSource.fields))('of the kind %s is mounted, or says what to use', (kind) => {
    const volume = {name: 'v', [kind]: {}} as Volume;
    const problems = unsupportedFields(aPod({volumes: [volume]})).map(describeFieldError);
    const reason = REJECTED[kind];
    expect(problems).toEqual(
      reason === undefined ? [] : [`spec.volumes[0].${kind}: Forbidden: not supported by kcri: ${reason}`],
    );
  });
});
