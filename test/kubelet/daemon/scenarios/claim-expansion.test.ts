import {expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {
  CSI_DRIVER,
  EXPANDING_ANSWERS,
  csiSockets,
  FakeCsiDriver,
} from '../../../fakes/plugins/fake-csi-driver.js';
import {DeviceTestbed} from './device-testbed.js';

/** Longer than the period in which volumes without a claim are looked for, in ms of the fake clock. */
const RECLAIM_PERIOD_MS = 20_000;
const CLASS = JSON.stringify({
  ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'disks'}},
  ...{provisioner: CSI_DRIVER, allowVolumeExpansion: true},
});
const POD = aManifest({
  name: 'web',
  terminationGracePeriodSeconds: 0,
  containers: [aContainerSpec('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
  volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}],
});

function aClaim(storage: string): string {
  return JSON.stringify({
    ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'data'}},
    spec: {accessModes: ['ReadWriteOnce'], storageClassName: 'disks', resources: {requests: {storage}}},
  });
}

/** Mounting requires root. */
test.runIf(process.getuid?.() === 0)(
  'a claim that grows in its manifest is enlarged while its pod runs, and its volume deleted after it',
  async () => {
    await using testbed = await DeviceTestbed.start();
    const {daemon} = testbed;
    await using driver = await FakeCsiDriver.start({
      ...csiSockets(daemon.rootDir),
      capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'],
      answers: EXPANDING_ANSWERS,
    });
    await daemon.put('class.json', CLASS);
    await daemon.put('claim.json', aClaim('1Mi'));
    await testbed.runPod('web', POD);
    await daemon.put('claim.json', aClaim('2Mi'));
    await daemon.until('the volume is enlarged', () =>
      daemon.events.some(({reason}) => reason === 'FileSystemResizeSuccessful'),
    );
    // The kubelet has looked at the claims of volumes.
    await daemon.clock.sleep(RECLAIM_PERIOD_MS);
    expect(daemon.statusOf('web')).toMatchObject({phase: 'Running', restarts: 0});
    await daemon.remove('web.json');
    await daemon.until('the volume is unstaged', () => driver.changes.includes('NodeUnstageVolume'));
    await daemon.remove('claim.json');
    await daemon.until('the volume is deleted', () => driver.changes.includes('DeleteVolume'));
    expect(driver.changes.filter((method) => !/capabilities/i.test(method))).toEqual([
      ...['CreateVolume', 'NodeStageVolume', 'NodePublishVolume'],
      ...['ControllerExpandVolume', 'NodeExpandVolume'],
      ...['NodeUnpublishVolume', 'NodeUnstageVolume', 'DeleteVolume'],
    ]);
  },
);
