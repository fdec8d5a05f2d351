import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {
  CSI_DRIVER,
  csiSockets,
  FakeCsiDriver,
  type FakeCsiDriverOptions,
} from '../../../fakes/plugins/fake-csi-driver.js';
import {FakeRegistrar} from '../../../fakes/plugins/fake-registrar.js';
import {DeviceTestbed} from './device-testbed.js';

const never = async (): Promise<object> => await new Promise<object>(() => undefined);

const CLAIM_POD = aManifest({
  name: 'web',
  terminationGracePeriodSeconds: 0,
  containers: [aContainerSpec('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
  volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}],
});
/** The driver can have volumes that live as long as their pods. */
const DRIVER = JSON.stringify({
  ...{apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: {name: CSI_DRIVER}},
  spec: {volumeLifecycleModes: ['Ephemeral']},
});
const POD = aManifest({
  name: 'web',
  terminationGracePeriodSeconds: 0,
  containers: [aContainerSpec('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
  volumes: [{name: 'v', csi: {driver: CSI_DRIVER}}],
});

/** Starts a daemon that stops its pods when it ends, and a pod with a PersistentVolume of a driver. */
async function aStoppingDaemon(options: Pick<FakeCsiDriverOptions, 'answers'> = {}) {
  const testbed = await DeviceTestbed.start({stopPodsOnExit: true});
  const {daemon} = testbed;
  const driver = await FakeCsiDriver.start({
    ...csiSockets(daemon.rootDir),
    ...options,
  });
  const volume = {
    ...{apiVersion: 'v1', kind: 'PersistentVolume', metadata: {name: 'pv'}},
    spec: {
      ...{capacity: {storage: '1Mi'}, accessModes: ['ReadWriteOnce'], storageClassName: ''},
      csi: {driver: CSI_DRIVER, volumeHandle: 'h'},
    },
  };
  const claim = {
    ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'data'}},
    spec: {
      ...{accessModes: ['ReadWriteOnce'], storageClassName: ''},
      resources: {requests: {storage: '1Mi'}},
    },
  };
  await daemon.put('volume.json', JSON.stringify(volume));
  await daemon.put('claim.json', JSON.stringify(claim));
  await testbed.runPod('web', CLAIM_POD);
  return {testbed, daemon, driver};
}

/** Mounting requires root. */
test.runIf(process.getuid?.() === 0)(
  'pods that stop with the daemon leave no volume published or staged',
  async () => {
    const {testbed, daemon, driver} = await aStoppingDaemon();
    await using _testbed = testbed;
    await using _driver = driver;
    await daemon.stop();
    expect(daemon.running).toEqual([]);
    expect(driver.changes).toEqual([
      ...['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'],
    ]);
    const staged = await readdir(join(daemon.rootDir, 'plugins/kubernetes.io/csi', CSI_DRIVER)).catch(
      () => [],
    );
    expect(staged).toEqual([]);
  },
);

test.runIf(process.getuid?.() === 0).each(['NodeUnpublishVolume', 'NodeUnstageVolume'])(
  'a driver that hangs in %s delays a daemon that stops its pods for a limited time, which is logged',
  async (method) => {
    const {testbed, daemon, driver} = await aStoppingDaemon({answers: {[method]: never}});
    await using _testbed = testbed;
    await using _driver = driver;
    await daemon.stop();
    expect(driver.changes).toContain(method);
    expect(daemon.errors).toContainEqual(expect.stringMatching(/^Volumes of stopped pods are left/));
    await daemon.until('the call has ended', () => driver.openConnections === 0);
  },
);

/** Mounting requires root. */
test.runIf(process.getuid?.() === 0)(
  'no call of a CSI driver that hangs outlives the daemon, also if the signal of its stop was earlier',
  async () => {
    await using testbed = await DeviceTestbed.start();
    const {daemon} = testbed;
    await using driver = await FakeCsiDriver.start({
      ...csiSockets(daemon.rootDir),
      capabilities: ['GET_VOLUME_STATS'],
      answers: {NodeGetVolumeStats: never},
    });
    await daemon.put('driver.json', DRIVER);
    await testbed.runPod('web', POD);
    const [pod] = daemon.view.pods().filter(({metadata}) => metadata.name === 'web-goldennode');
    if (pod === undefined) throw new Error('the pod is not known');
    const [volume] = daemon.view.volumes(pod);
    const measured = expect(volume?.measure?.()).rejects.toThrow('the kubelet is stopping');
    await daemon.until('the driver is asked', () => driver.callsTo('NodeGetVolumeStats').length > 0);
    expect(driver.openConnections).toBe(1);
    await daemon.stop();
    await measured;
    await daemon.until('the call has ended', () => driver.openConnections === 0);
  },
);

test('a plugin that does not take the result of its registration does not outlive the daemon', async () => {
  await using testbed = await DeviceTestbed.start();
  const {daemon} = testbed;
  let told = false;
  const path = join(daemon.rootDir, 'plugins_registry/x.sock');
  await using registrar = await FakeRegistrar.start(path, {type: 'Strange', name: 'x'}, ({method}) => {
    told ||= method === 'NotifyRegistrationStatus';
    registrar.hangs = told;
  });
  await daemon.until('it is told', () => told);
  await daemon.stop();
  await daemon.until('the call has ended', () => registrar.openConnections === 0);
});
