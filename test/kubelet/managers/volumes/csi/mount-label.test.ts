import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {PodSpec} from '../../../../../src/api/types/v1-pod.js';
import {SILENT_LOGGER} from '../../../../../src/base/logger.js';
import {systemClock} from '../../../../../src/base/clock.js';
import {NO_METRICS} from '../../../../../src/kubelet/contract/kubelet-metrics.js';
import type {CsiCluster} from '../../../../../src/kubelet/contract/volumes/csi-cluster.js';
import type {CsiVolume} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {CsiDriverClient} from '../../../../../src/kubelet/managers/volumes/csi/csi-driver-client.js';
import type {CsiDrivers} from '../../../../../src/kubelet/managers/volumes/csi/csi-drivers.js';
import {CsiMetrics} from '../../../../../src/kubelet/managers/volumes/csi/csi-metrics.js';
import type {CsiServices} from '../../../../../src/kubelet/managers/volumes/csi/csi-services.js';
import {systemLoopDevices} from '../../../../../src/kubelet/managers/volumes/block/loop-devices.js';
import {CsiVolumeManager} from '../../../../../src/kubelet/managers/volumes/csi/csi-volume-manager.js';
import {withMountLabel} from '../../../../../src/kubelet/managers/volumes/csi/selinux/mount-label.js';
import {StagedVolumes} from '../../../../../src/kubelet/managers/volumes/csi/staged-volumes.js';
import {systemMounter} from '../../../../../src/kubelet/managers/volumes/mounter.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {FakeCsiDriver} from '../../../../fakes/plugins/fake-csi-driver.js';
import {aPodWith} from '../volume-fixtures.js';

const LEVEL = {seLinuxOptions: {level: 's0:c1,c2'}};
const DRIVER = {seLinuxMount: true};

function aVolume(spec: Partial<PodSpec>, changes: Partial<CsiVolume> = {}): CsiVolume {
  return {
    pod: aPodWith([{name: 'v', persistentVolumeClaim: {claimName: 'c'}}], spec),
    ...{name: 'pv', specName: 'v', driver: 'd', handle: 'h', isEphemeral: false, readOnly: false},
    ...{fsType: '', attributes: {}, accessModes: ['ReadWriteOncePod'], mountOptions: ['noatime']},
    ...changes,
  };
}

/** Creates the configuration of a node with SELinux. */
async function aPolicy(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'strict/contexts'), {recursive: true});
  await writeFile(join(directory, 'config'), '# policy\nSELINUX=enforcing\nSELINUXTYPE=strict\n');
  const contexts =
    'process = "system_u:system_r:container_t:s0"\nfile = "system_u:object_r:container_file_t:s0"\n';
  await writeFile(join(directory, 'strict/contexts/lxc_contexts'), contexts);
  return directory;
}

test('the volume of one pod is mounted with the label of the pod', async () => {
  const volume = await withMountLabel(aVolume({securityContext: LEVEL}), DRIVER, await aPolicy());
  expect(volume).toMatchObject({
    seLinuxLabel: 'system_u:object_r:container_file_t:s0:c1,c2',
    mountOptions: ['noatime', 'context="system_u:object_r:container_file_t:s0:c1,c2"'],
  });
});

test('the options of a container come before those of its pod', async () => {
  const securityContext = {seLinuxOptions: {user: 'staff_u', level: 's0:c3'}};
  const containers = [{name: 'a', image: 'i', volumeMounts: [{name: 'v', mountPath: '/v'}], securityContext}];
  const volume = await withMountLabel(aVolume({containers, securityContext: LEVEL}), DRIVER, await aPolicy());
  expect(volume.seLinuxLabel).toBe('staff_u:object_r:container_file_t:s0:c3');
});

test('containers with different labels cannot share the volume', async () => {
  const containers = ['a', 'b'].map((name) => ({
    ...{name, image: 'i', volumeMounts: [{name: 'v', mountPath: '/v'}]},
    securityContext: {seLinuxOptions: {level: name === 'a' ? 's0:c1' : 's0:c2'}},
  }));
  await expect(withMountLabel(aVolume({containers}), DRIVER, await aPolicy())).rejects.toThrow(
    'multiple SELinux labels found: system_u:object_r:container_file_t:s0:c1,system_u:object_r:container_file_t:s0:c2',
  );
});

test.each([
  ['without a level', aVolume({securityContext: {seLinuxOptions: {type: 't'}}}), DRIVER],
  [
    'of a pod that wants its files to be relabeled',
    aVolume({securityContext: {...LEVEL, seLinuxChangePolicy: 'Recursive'}}),
    DRIVER,
  ],
  ['of a driver that does not support it', aVolume({securityContext: LEVEL}), {}],
  ['that several pods can have', aVolume({securityContext: LEVEL}, {accessModes: ['ReadWriteOnce']}), DRIVER],
  ['in the spec of a pod', aVolume({securityContext: LEVEL}, {isEphemeral: true}), DRIVER],
] as const)('a volume %s is mounted without a label', async (_title, volume, driver) => {
  expect(await withMountLabel(volume, driver, await aPolicy())).toBe(volume);
});

test('without the contexts of a policy, a volume is mounted without a label', async () => {
  const volume = aVolume({securityContext: LEVEL});
  expect(await withMountLabel(volume, DRIVER, await temporaryDirectory())).toBe(volume);
});

test.each([
  [true, ['noatime', 'context="system_u:object_r:container_file_t:s0:c1,c2"']],
  [false, ['noatime']],
])('with SELinux on the node: %s, the driver gets the options %j', async (selinuxEnabled, flags) => {
  const {signal} = new AbortController();
  const directory = await temporaryDirectory();
  const socket = join(directory, 'csi.sock');
  await using driver = await FakeCsiDriver.start({path: socket});
  const common = {
    ...{clock: systemClock, logger: SILENT_LOGGER, mounter: systemMounter, loops: systemLoopDevices, signal},
    metrics: new CsiMetrics(NO_METRICS, systemClock),
    node: {rootDir: join(directory, 'root'), nodeName: 'n1', selinuxEnabled},
    drivers: {client: () => new CsiDriverClient(socket)} as unknown as CsiDrivers,
  };
  const cluster: Pick<CsiCluster, 'driver' | 'driversKnown'> = {
    driversKnown: async () => undefined,
    driver: () => ({seLinuxMount: true, attachRequired: false, fsGroupPolicy: 'None'}),
  };
  const staged = new StagedVolumes({...common, onChange: () => undefined});
  const services: CsiServices = {
    ...{...common, staged, cluster: cluster as CsiCluster, selinuxDir: await aPolicy()},
  };
  const manager = new CsiVolumeManager(services);
  await manager.mount(aVolume({securityContext: LEVEL}), signal);
  for (const method of ['NodeStageVolume', 'NodePublishVolume'])
    expect(driver.callsTo(method)).toMatchObject([{volume_capability: {mount: {mount_flags: flags}}}]);
  const data = join(directory, 'root/pods/u1/volumes/kubernetes.io~csi/pv/vol_data.json');
  expect((await readFile(data, 'utf8')).includes('"seLinuxMountContext":"system_u:')).toBe(selinuxEnabled);
  expect(manager.hasMountLabel('u1', 'v')).toBe(selinuxEnabled);
});
