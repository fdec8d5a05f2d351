import {existsSync} from 'node:fs';
import {mkdir, readdir, readFile, readlink, rm, stat, writeFile} from 'node:fs/promises';
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../../src/api/types/v1-persistent-volumes.js';
import {NO_OBJECTS} from '../../../../../../src/kubelet/contract/api-objects.js';
import {listVolumes} from '../../../../../../src/kubelet/managers/volumes/list-volumes.js';
import {mountVolumes} from '../../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {deviceMounts, hasLoopDevices, loopFiles, probeDisk} from '../../../../../base/loop-disk.js';
import {realTimeClock} from '../../../../../fakes/fake-clock.js';
import {aClaimPod, aDevicePod} from '../../claim-fixtures.js';
import {aPodWith} from '../../volume-fixtures.js';
import {aDiskNode, MISSING, type Answer, type DiskNode} from '../disk-node.js';

const {signal} = new AbortController();
const IQN = 'iqn.2026-01.com.example:disks';
const PORTAL = '10.0.0.1:3260';
const LINK = `by-path/ip-${PORTAL}-iscsi-${IQN}-lun-3`;
const SESSION = 'class/iscsi_host/host4/device/session2';
const PLACE = `iface-default/${PORTAL}-${IQN}-lun-3`;
const GLOBAL = `plugins/kubernetes.io/iscsi/${PLACE}`;
const podMount = (uid: string): string => `pods/${uid}/volumes/kubernetes.io~iscsi/pv`;

const SHOWN = `# BEGIN RECORD 2.1.8
iface.iscsi_ifacename = default
iface.net_ifacename = <empty>
iface.transport_name = tcp
iface.initiatorname = <empty>
iface.mtu = 0
# END RECORD
`;

/** Stands for iscsiadm(8) and the kernel: a login makes a session, and the link to the disk. */
async function iscsiadm(
  node: DiskNode,
  program: string,
  args: readonly string[],
): Promise<Answer | undefined> {
  if (program !== 'iscsiadm') return undefined;
  if (args.at(-1) === 'show') return SHOWN;
  if (args.includes('--login')) {
    await node.sysfs(`${SESSION}/iscsi_session/session2/targetname`, `${IQN}\n`);
    const connection = `${SESSION}/connection2:0/iscsi_connection/connection2:0`;
    for (const [name, value] of [
      ['address', '10.0.0.1'],
      ['port', '3260'],
      ['persistent_address', '10.0.0.1'],
      ['persistent_port', '3260'],
    ] as const)
      await node.sysfs(`${connection}/${name}`, `${value}\n`);
    await node.sysfs(`${SESSION}/target4:0:0/4:0:0:3/block/sdq/size`, '8\n');
    await node.sysfs('block/sdq/device/delete', '');
    await node.sysfs('class/scsi_host/host4/scan', '');
    await node.link(LINK, node.device);
  }
  if (args.includes('--logout')) {
    if (!existsSync(join(node.roots.sys, SESSION))) return 21;
    await rm(join(node.roots.sys, SESSION), {recursive: true});
    await node.unlink(LINK);
  }
  return undefined;
}

const SOURCE = {targetPortal: '10.0.0.1', iqn: IQN, lun: 3};

const anIscsiNode = async (
  source: Partial<NonNullable<PersistentVolumeSpec['iscsi']>> = {},
  spec: PersistentVolumeSpec = {},
  answer = iscsiadm,
): Promise<DiskNode> => await aDiskNode({iscsi: {...SOURCE, ...source}, ...spec}, answer);

const callsOf = ({calls}: DiskNode, pattern: RegExp): readonly string[] =>
  calls.filter((call) => pattern.test(call));

describe.skipIf(!hasLoopDevices)('a filesystem on an iSCSI disk (needs root)', () => {
  test('is attached and mounted once, bound for each pod, and detached after the last one', async () => {
    const node = await anIscsiNode();
    const {host, calls, rootDir, device} = node;
    const {volumes} = await mountVolumes(aClaimPod({securityContext: {fsGroup: 2000}}), host, signal);
    const path = join(rootDir, podMount('u1'));
    expect(volumes.get('v')).toEqual({hostPath: path, readOnly: false});
    expect((await stat(path)).gid).toBe(2000);
    expect(await probeDisk(device)).toContain('TYPE=ext4');
    const record = `-p ${PORTAL} -T ${IQN} -I default`;
    const discovery = `iscsiadm -m discoverydb -t sendtargets -p ${PORTAL} -I default`;
    expect(calls).toEqual([
      'iscsiadm -m iface -I default -o show',
      `${discovery} -o new`,
      `${discovery} --discover`,
      `iscsiadm -m node ${record} -o update -n node.session.scan -v manual`,
      `iscsiadm -m node ${record} --login`,
      `iscsiadm -m node -p ${PORTAL} -T ${IQN} -o update -n node.startup -v manual`,
      '0 0 3 >class/scsi_host/host4/scan',
    ]);
    await writeFile(join(path, 'file'), 'shared');
    await mountVolumes(aClaimPod({}, 'u2'), host, signal);
    expect(await readFile(join(rootDir, podMount('u2'), 'file'), 'utf8')).toBe('shared');
    expect(calls).toHaveLength(7);
    expect(await node.mounts()).toEqual([GLOBAL, podMount('u1'), podMount('u2')]);

    await node.remove('u1');
    expect(await node.mounts()).toEqual([GLOBAL, podMount('u2')]);
    calls.length = 0;
    await node.remove('u2');
    expect(calls).toEqual([
      'blockdev --flushbufs /dev/sdq',
      '1 >block/sdq/device/delete',
      `iscsiadm -m node -p ${PORTAL} -T ${IQN} --logout -I default`,
      `iscsiadm -m node -p ${PORTAL} -T ${IQN} -o delete -I default`,
    ]);
    expect(await deviceMounts(device)).toEqual([]);
    expect(await readdir(join(rootDir, 'plugins/kubernetes.io/iscsi/iface-default'))).toEqual([]);
  });

  test('that a kubelet has mounted is adopted without a login, and detached with its file', async () => {
    const node = await anIscsiNode({portals: ['10.0.0.2']});
    const {host, rootDir, device, calls} = node;
    await iscsiadm(node, 'iscsiadm', ['--login']);
    execFileSync('mkfs.ext4', ['-q', device]);
    await mkdir(join(rootDir, GLOBAL), {recursive: true});
    const file = {
      VolName: 'pv',
      Portals: [PORTAL, '10.0.0.2:3260'],
      Iqn: IQN,
      Lun: '3',
      InitIface: 'default',
    };
    const text = JSON.stringify({...file, Iface: 'default', InitiatorName: '', MetricsProvider: null});
    await writeFile(join(rootDir, GLOBAL, 'iscsi.json'), text);
    execFileSync('mount', [device, join(rootDir, GLOBAL)]);
    await mkdir(join(rootDir, podMount('u1')), {recursive: true});
    execFileSync('mount', ['--bind', join(rootDir, GLOBAL), join(rootDir, podMount('u1'))]);
    await mountVolumes(aClaimPod({}, 'u2'), host, signal);
    expect(calls).toEqual([]);
    await node.remove('u2');
    await node.remove('u1');
    expect(callsOf(node, /--logout/)).toEqual([
      `iscsiadm -m node -p ${PORTAL} -T ${IQN} --logout -I default`,
      `iscsiadm -m node -p 10.0.0.2:3260 -T ${IQN} --logout -I default`,
    ]);
    expect(await node.mounts()).toEqual([]);
  });

  test.each([
    ['the login', [GLOBAL], false],
    ['the mount of the disk', [GLOBAL], true],
  ])('is released with its pod after a kill that followed %s', async (_step, directories, isMounted) => {
    const node = await anIscsiNode({fsType: 'ext4'});
    const {host, rootDir, device} = node;
    const mounter = {
      ...host.mounter,
      ...(isMounted ? {} : {mountDevice: async () => Promise.reject(new Error('killed'))}),
      bind: async () => Promise.reject(new Error('killed')),
    };
    await expect(mountVolumes(aClaimPod(), {...host, mounter}, signal)).rejects.toThrow('killed');
    for (const each of directories) expect(existsSync(join(rootDir, each))).toBe(true);
    await node.remove('u1');
    expect(callsOf(node, /--logout/)).toHaveLength(1);
    expect(await deviceMounts(device)).toEqual([]);
    expect(existsSync(join(rootDir, GLOBAL))).toBe(false);
  });

  test('keeps the sessions that another volume of the target needs', async () => {
    const node = await anIscsiNode();
    await mountVolumes(aClaimPod(), node.host, signal);
    await mkdir(join(node.rootDir, `plugins/kubernetes.io/iscsi/iface-default/${PORTAL}-${IQN}-lun-4`));
    await node.remove('u1');
    expect(callsOf(node, /--logout|device\/delete/)).toEqual(['1 >block/sdq/device/delete']);
  });

  test('is mounted by its multipath device, which is removed with its paths', async () => {
    const node = await anIscsiNode();
    const {host, device} = node;
    const name = device.slice('/dev/'.length);
    // The device that is mapped is not there: the step after its choice fails.
    await node.sysfs(`block/dm-77/slaves/${name}/size`, '8');
    await node.sysfs('block/dm-77/dm/uuid', 'mpath-3600\n');
    await node.sysfs('block/dm-78/dm/uuid', 'LVM-x\n');
    await node.sysfs(`block/dm-78/slaves/sdq/size`, '8');
    await expect(mountVolumes(aClaimPod(), host, signal)).rejects.toThrow('/dev/dm-77');
    await node.sysfs('block/dm-79/dm/uuid', 'mpath-3601\n');
    await node.sysfs('block/dm-79/slaves/sdq/size', '8');
    await node.remove('u1');
    expect(callsOf(node, /multipath|delete$/).slice(0, 2)).toEqual([
      'multipath -f /dev/dm-79',
      '1 >block/sdq/device/delete',
    ]);
  });

  test('fails with the kubelet’s message and the package to install without iscsiadm', async () => {
    const node = await anIscsiNode({}, {}, async () => MISSING);
    await expect(mountVolumes(aClaimPod(), node.host, signal)).rejects.toMatchObject({
      message:
        'MountVolume.WaitForAttach failed for volume "pv" : exec: "iscsiadm": executable file not found in $PATH',
      hint: 'install open-iscsi (Debian) or iscsi-initiator-utils (RHEL)',
    });
    expect(await node.mounts()).toEqual([]);
  });

  test('lets its pod be removed without iscsiadm, unless a session of its target exists', async () => {
    const node = await anIscsiNode({}, {}, async () => MISSING);
    await expect(mountVolumes(aClaimPod(), node.host, signal)).rejects.toThrow('executable file not found');
    await node.sysfs(`${SESSION}/iscsi_session/session2/targetname`, `${IQN}\n`);
    await expect(node.remove('u1')).rejects.toThrow('failed to log out of the target');
    await rm(join(node.roots.sys, SESSION), {recursive: true});
    await node.remove('u1');
    expect(await readdir(join(node.rootDir, 'plugins/kubernetes.io/iscsi/iface-default'))).toEqual([]);
  });

  test.each([
    [11, 'check that the portal can be reached from the node'],
    [24, 'check the Secret of the volume, and the initiator names that the target allows'],
    [7, 'look with "journalctl -u iscsid" for the cause'],
  ])('whose discovery fails with the exit status %i has the hint: %s', async (status, hint) => {
    const node = await anIscsiNode({}, {}, async (each, program, args) =>
      args.includes('--discover') ? status : await iscsiadm(each, program, args),
    );
    await expect(mountVolumes(aClaimPod(), node.host, signal)).rejects.toMatchObject({hint});
  });

  test('is not attached if the link to it leads elsewhere', async () => {
    const node = await anIscsiNode({}, {}, async (each, ...call) => {
      const answer = await iscsiadm(each, ...call);
      if (call[1].includes('--login')) await each.link(LINK, join(each.roots.sys, 'block/sdq'));
      return answer;
    });
    const {clock} = node.host;
    const quick = Object.assign(Object.create(clock) as typeof clock, {
      // Only the wait for the link is shortened.
      sleep: async (ms: number, end?: AbortSignal) => clock.sleep(ms === 1000 ? 1 : ms, end),
    });
    const clocked = {...node.host, clock: quick};
    await expect(mountVolumes(aClaimPod(), clocked, signal)).rejects.toThrow(
      /failed to get any path for iscsi disk, last err seen:\nTimed out waiting for device at path/,
    );
  });
});

describe.skipIf(!hasLoopDevices)('an iSCSI disk of the spec of a pod (needs root)', () => {
  const CHAP = {chapAuthDiscovery: true, chapAuthSession: true, secretRef: {name: 'chap'}};
  const values = Object.fromEntries(
    ['discovery.sendtargets.auth', 'node.session.auth'].flatMap((prefix) => [
      [`${prefix}.username`, Buffer.from('me')],
      [`${prefix}.password`, Buffer.from('s3cret-word')],
    ]),
  );
  const objects = {
    ...NO_OBJECTS,
    secret: (namespace: string, name: string) => {
      if (namespace !== 'default' || name !== 'chap') return undefined;
      return {apiVersion: 'v1' as const, kind: 'Secret' as const, metadata: {name}, data: values};
    },
  };

  // Proves: Volume.iscsi, ISCSIVolumeSource.targetPortal, ISCSIVolumeSource.iqn, ISCSIVolumeSource.lun, ISCSIVolumeSource.initiatorName, ISCSIVolumeSource.secretRef, ISCSIVolumeSource.chapAuthDiscovery, ISCSIVolumeSource.chapAuthSession
  test('is attached with the values of its Secret, by an interface with its initiator name', async () => {
    const node = await anIscsiNode();
    const {host} = node;
    const iscsi = {...SOURCE, ...CHAP, initiatorName: 'iqn.2026-01.com.example:node', readOnly: false};
    await mountVolumes(aPodWith([{name: 'v', iscsi}]), {...host, objects}, signal);
    const own = `${PORTAL}:v`;
    expect(callsOf(node, /-m iface/)).toEqual([
      'iscsiadm -m iface -I default -o show',
      `iscsiadm -m iface -I ${own} -o new`,
      `iscsiadm -m iface -I ${own} -o update -n iface.initiatorname -v iqn.2026-01.com.example:node`,
      `iscsiadm -m iface -I ${own} -o update -n iface.mtu -v 0`,
      `iscsiadm -m iface -I ${own} -o update -n iface.transport_name -v tcp`,
    ]);
    expect(callsOf(node, /auth/).map((call) => call.replace(/.* -n /, ''))).toEqual([
      'discovery.sendtargets.auth.authmethod -v CHAP',
      'discovery.sendtargets.auth.username -v me',
      'discovery.sendtargets.auth.password -v s3cret-word',
      'node.session.auth.authmethod -v CHAP',
      'node.session.auth.username -v me',
      'node.session.auth.password -v s3cret-word',
    ]);
    await node.remove('u1');
    expect(node.calls.at(-1)).toBe(`iscsiadm -m iface -I ${own} -o delete`);
  });

  // Proves: ISCSIVolumeSource.iscsiInterface, ISCSIVolumeSource.fsType, ISCSIVolumeSource.readOnly
  test('has the interface and the filesystem that it names, and is read-only for a pod that says so', async () => {
    const node = await anIscsiNode();
    const iscsi = {...SOURCE, iscsiInterface: 'ib0', fsType: 'ext3'};
    const mount = async (uid: string, readOnly: boolean): Promise<string> => {
      const pod = aPodWith([{name: 'v', iscsi: {...iscsi, readOnly}}]);
      const owned = {...pod, metadata: {...pod.metadata, uid}};
      const {volumes} = await mountVolumes(owned, {...node.host, objects: NO_OBJECTS}, signal);
      return volumes.get('v')?.hostPath ?? '';
    };
    await writeFile(join(await mount('u1', false), 'file'), 'x');
    const path = await mount('u2', true);
    expect(await readFile(join(path, 'file'), 'utf8')).toBe('x');
    await expect(writeFile(join(path, 'file'), 'y')).rejects.toThrow('EROFS');
    expect(await probeDisk(node.device)).toContain('TYPE=ext3');
    await node.remove('u1');
    await node.remove('u2');
    expect(callsOf(node, /--log/)).toEqual([
      `iscsiadm -m node -p ${PORTAL} -T ${IQN} -I ib0 --login`,
      `iscsiadm -m node -p ${PORTAL} -T ${IQN} --logout -I ib0`,
    ]);
  });

  // Proves: ISCSIVolumeSource.portals
  test('is attached through each portal that has a session, and by one of them at last', async () => {
    const node = await anIscsiNode();
    const iscsi = {...SOURCE, portals: ['10.0.0.2:3261', '10.0.0.1']};
    const clock = realTimeClock({sleepMs: (ms) => (ms === 1000 ? 0 : ms)});
    await mountVolumes(aPodWith([{name: 'v', iscsi}]), {...node.host, objects: NO_OBJECTS, clock}, signal);
    const logins = callsOf(node, /--login/).map((call) => call.replace(/.* -p (\S+) .*/, '$1'));
    expect(logins).toEqual([PORTAL, ...Array.from({length: 5}, () => '10.0.0.2:3261')]);
    await node.remove('u1');
    expect(callsOf(node, /--logout/)).toHaveLength(2);
  });

  test('has no value of its Secret in an error', async () => {
    const node = await anIscsiNode({}, {}, async (each, program, args) =>
      args.includes('node.session.auth.password') ? 7 : await iscsiadm(each, program, args),
    );
    const iscsi = {...SOURCE, ...CHAP};
    const mounting = mountVolumes(aPodWith([{name: 'v', iscsi}]), {...node.host, objects}, signal);
    const error: unknown = await mounting.catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      message: expect.stringContaining(
        'failed to update key "node.session.auth.password": exit status 7, output: iscsiadm: failed with ********',
      ) as string,
    });
  });

  test('is not attached if its Secret is missing', async () => {
    const node = await anIscsiNode();
    const iscsi = {...SOURCE, ...CHAP, secretRef: {name: 'other'}};
    await expect(
      mountVolumes(aPodWith([{name: 'v', iscsi}]), {...node.host, objects}, signal),
    ).rejects.toThrow(
      'MountVolume.NewMounter initialization failed for volume "v" : couldn\'t get secret default/other error: secret "other" not found',
    );
    expect(node.calls).toEqual([]);
  });
});

describe.skipIf(!hasLoopDevices)('an iSCSI disk as a device (needs root)', () => {
  test('is mapped for each pod, and detached after the last one', async () => {
    const node = await anIscsiNode({}, {volumeMode: 'Block'});
    const {host, rootDir, device} = node;
    for (const uid of ['u1', 'u2']) await mountVolumes(aDevicePod(uid), host, signal);
    const [state] = listVolumes(aDevicePod(), {...host, isMounted: () => true});
    expect((await state?.measure?.())?.capacityBytes).toBeGreaterThan(0n);
    const global = join(rootDir, 'plugins/kubernetes.io/iscsi/volumeDevices', PLACE);
    expect(await readlink(join(rootDir, 'pods/u1/volumeDevices/kubernetes.io~iscsi/pv'))).toBe(device);
    expect((await readdir(global)).toSorted()).toEqual(['iscsi.json', 'u1', 'u2']);
    expect((await loopFiles(rootDir)).toSorted()).toEqual([join(global, 'u1'), join(global, 'u2')]);
    await node.remove('u1');
    expect(callsOf(node, /--logout/)).toEqual([]);
    // As after a kill, or of a kubelet, which has no record of the disk.
    await rm(join(rootDir, 'pods/u2/plugins'), {recursive: true});
    await node.remove('u2');
    expect(callsOf(node, /--logout|device\/delete/)).toHaveLength(2);
    expect(existsSync(global)).toBe(false);
    expect(await loopFiles(rootDir)).toEqual([]);
  });
});
