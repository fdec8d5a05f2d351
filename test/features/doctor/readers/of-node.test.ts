import {execFileSync} from 'node:child_process';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {readPrograms} from '../../../../src/features/doctor/readers/files.js';
import {parseKernelConfig} from '../../../../src/features/doctor/readers/kernel.js';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {readNetworkMounts} from '../../../../src/features/doctor/readers/network-mounts.js';
import {
  addressRanges,
  readAddresses,
  readInterfaces,
} from '../../../../src/features/doctor/readers/network.js';
import {podOfCgroup} from '../../../../src/base/host/pod-of-cgroup.js';
import {readPodCgroups} from '../../../../src/features/doctor/readers/pod-cgroups.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {GOOD_NODE} from '../a-node.js';

const {signal} = new AbortController();
const open = async (mounts?: string): Promise<LocalFileReader> => await LocalFileReader.open(signal, mounts);

test('options of the kernel that are set, set as modules, and not set', () => {
  const text = '# CONFIG_VXLAN is not set\nCONFIG_MEMCG=y\nCONFIG_OVERLAY_FS=m\nCONFIG_HZ=250\n';
  const config = parseKernelConfig(text);
  expect(config).toMatchObject({MEMCG: 'y', OVERLAY_FS: 'm', VXLAN: 'n', NET_NS: 'n'});
  expect(config).not.toHaveProperty('HZ');
});

describe('network file systems', () => {
  const mountinfo = async (...lines: readonly string[]): Promise<LocalFileReader> => {
    const path = join(await temporaryDirectory(), 'mountinfo');
    await writeFile(path, lines.map((line, index) => `${index + 1} 0 0:9 / ${line}\n`).join(''));
    return await open(path);
  };

  test('a mount that does not answer has a reason, and keeps nothing waiting', async () => {
    const node = await mountinfo('/ rw - ext4 /dev/vda rw', '/data rw - nfs4 server:/data rw');
    const options = {clock: systemClock, signal, command: ['sh', '-c', 'exec sleep 3600', 'sh']};
    expect(await readNetworkMounts(node, options)).toEqual({
      value: [
        {
          path: '/data',
          fileSystem: 'nfs4',
          source: 'server:/data',
          ms: {error: '/data: no answer within 1s'},
        },
      ],
    });
    // No process of the test is left that waits.
    expect(
      execFileSync('ps', ['-o', 'args', '--ppid', String(process.pid)], {encoding: 'utf8'}),
    ).not.toContain('sleep 3600');
  });

  test('mounts that answer, those that fail, and automounters, which are not asked', async () => {
    const node = await mountinfo(
      '/ rw - nfs4 server:/ rw',
      '/no/such rw - cifs //server/share rw',
      '/auto rw - autofs systemd-1 rw',
    );
    const found = await readNetworkMounts(node, {clock: systemClock, signal});
    expect(found).toMatchObject({
      value: [
        {path: '/', ms: {value: expect.any(Number) as number}},
        {path: '/no/such', ms: {error: '/no/such: stat ended with exit code 1'}},
      ],
    });
  });
});

describe('addresses', () => {
  const config = (ipam: object): string => JSON.stringify({name: 'pods', plugins: [{type: 'bridge', ipam}]});

  test.each([
    [{type: 'host-local', subnet: '10.88.0.0/24'}, [253]],
    [{type: 'host-local', ranges: [[{subnet: '10.88.0.0/16'}], [{subnet: 'fd00::/64'}]]}, [65_533]],
    [{type: 'host-local', subnet: '10.0.0.0/24', rangeStart: '10.0.0.10', rangeEnd: '10.0.0.19'}, [10]],
    [{type: 'dhcp'}, []],
    [{type: 'host-local', ranges: 'x'}, []],
  ])('the range of %j', (ipam, sizes) => {
    expect(addressRanges(config(ipam)).map(({size}) => size)).toEqual(sizes);
  });

  test('addresses are counted with their owners; locks and what is not an address are not', async () => {
    const dataDir = await temporaryDirectory();
    await mkdir(join(dataDir, 'pods'));
    for (const [name, text] of Object.entries({
      '10.88.0.2': 's1\r\neth0',
      '10.88.0.3': 'gone\neth0',
      'last_reserved_ip.0': '10.88.0.3',
      lock: '',
    }))
      await writeFile(join(dataDir, 'pods', name), text);
    const text = config({type: 'host-local', subnet: '10.88.0.0/24', dataDir});
    const cni = {...GOOD_NODE.cni, configs: {value: [{path: '/x', text: {value: text}}]}};
    expect(await readAddresses(cni, await open())).toEqual([
      {
        network: 'pods',
        directory: join(dataDir, 'pods'),
        size: 253,
        taken: {value: {count: 2, owners: ['s1', 'gone']}},
      },
    ]);
  });
});

test('interfaces that are cables to pods have a state', async () => {
  const found = await readInterfaces(await open());
  expect('value' in found && found.value.every(({name}) => name !== 'lo')).toBe(true);
});

test('programs are found in the directories for programs', async () => {
  expect(await readPrograms(await open())).toMatchObject({
    mount: {value: expect.stringMatching(/\/s?bin\/mount$/) as string},
  });
});

describe('cgroups', () => {
  test.each([
    ['pod1b2c-3d4e', '1b2c-3d4e'],
    ['kubepods-burstable-pod1b2c_3d4e.slice', '1b2c-3d4e'],
    ['kubepods-pod1b2c_3d4e.slice', '1b2c-3d4e'],
    ['burstable', undefined],
    ['kubepods-burstable.slice', undefined],
  ])('%s is of pod %s', (name, uid) => {
    expect(podOfCgroup(name)).toBe(uid);
  });

  test('cgroups of all classes are found, with both versions and drivers', async () => {
    for (const [hierarchy, path] of [
      ['', 'kubepods/poda'],
      ['pids', 'kubepods/burstable/poda'],
      ['', 'kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poda.slice'],
    ] as const) {
      const mount = await temporaryDirectory();
      await mkdir(join(mount, hierarchy, path), {recursive: true});
      expect(await readPodCgroups(mount, await open())).toMatchObject({
        value: [{uid: 'a', path: join(mount, hierarchy, path)}],
      });
    }
    expect(await readPodCgroups('/no/such', await open())).toEqual({value: []});
  });
});
