import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {findBinaries, containerdSearchPath} from '../../../src/private-runtime/containerd/binaries.js';
import {bundleCgroup, listBundles} from '../../../src/private-runtime/containerd/bundles.js';
import {isInCgroup} from '../../../src/private-runtime/host/remove-cgroups.js';
import {computeRuntimeLayout} from '../../../src/private-runtime/private-runtime-layout.js';
import {dockerImageNames} from '../../../src/private-runtime/image/load-images.js';
import {shouldRestrictOomScoreAdj} from '../../../src/private-runtime/host/host-capabilities.js';
import {parseMountInfo} from '../../../src/base/fs/mount-info.js';
import {mountsBelow} from '../../../src/private-runtime/host/mounts.js';
import {
  descendantsOf,
  isContainerdWithConfig,
  isShimOf,
  type RunningProcess,
} from '../../../src/private-runtime/process/processes.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

function aProcess(process: Partial<RunningProcess> & {readonly pid?: number}): RunningProcess {
  const {pid = 1, parentPid = 0, argv = [], cgroups = ''} = process;
  return {identity: {pid, startTime: '1', bootId: 'boot'}, parentPid, argv, cgroups};
}

describe('restrictOomScoreAdj', () => {
  const status = (effective: string, bounding: string): string =>
    `Name:\tx\nCapEff:\t${effective}\nCapBnd:\t${bounding}\n`;
  test.each([
    ['000001ffffffffff', '000001ffffffffff', false, 'CAP_SYS_RESOURCE is available'],
    ['000001fffeffffff', '000001fffeffffff', true, 'CAP_SYS_RESOURCE is not in CapEff and CapBnd'],
    ['000001ffffffffff', '000001fffeffffff', true, 'CAP_SYS_RESOURCE is not in CapBnd'],
    ['0000000000000000', '000001ffffffffff', true, 'CAP_SYS_RESOURCE is not in CapEff'],
  ])('effective %s, bounding %s: %s', (effective, bounding, value, reason) => {
    expect(shouldRestrictOomScoreAdj(status(effective, bounding))).toEqual({value, reason});
  });
});

describe('layoutOf', () => {
  test('all paths are below the root directory', () => {
    const layout = computeRuntimeLayout('/var/lib/kcri');
    expect(layout.endpoint).toBe('unix:///var/lib/kcri/runtime/containerd.sock');
    expect(layout.stateDir).toBe('/var/lib/kcri/runtime/state');
  });

  test.each([
    [77, true],
    [78, false],
  ])('a root directory of %i bytes contains the socket: %s', (length, isBelow) => {
    const rootDir = `/${'r'.repeat(length - 1)}`;
    const {socket, stateDir} = computeRuntimeLayout(rootDir);
    expect(socket.startsWith(rootDir)).toBe(isBelow);
    expect(stateDir.startsWith(rootDir)).toBe(isBelow);
    expect(`${socket}.ttrpc`.length).toBeLessThan(108);
  });
});

describe('findBinaries', () => {
  async function folderWith(...names: readonly string[]): Promise<string> {
    const dir = await temporaryDirectory();
    for (const name of names) await writeFile(join(dir, name), '', {mode: 0o755});
    return dir;
  }

  test('the directory is searched for ctr and the shim before PATH', async () => {
    const folder = await folderWith('containerd', 'ctr', 'containerd-shim-runc-v2');
    const path = await folderWith('runc', 'ctr');
    const binaries = findBinaries({containerd: folder}, path);
    expect(binaries).toMatchObject({
      containerd: join(folder, 'containerd'),
      ctr: join(folder, 'ctr'),
      shim: join(folder, 'containerd-shim-runc-v2'),
      runc: join(path, 'runc'),
    });
    expect(containerdSearchPath(binaries, path).split(':').slice(0, 2)).toEqual([folder, path]);
  });

  test('crun is used if it is given', async () => {
    const path = await folderWith('crun');
    expect(findBinaries({runc: 'crun'}, path).runc).toBe(join(path, 'crun'));
  });

  test('all missing and non-executable programs are reported together', async () => {
    const folder = await temporaryDirectory();
    await mkdir(join(folder, 'containerd'));
    const find = (): unknown => findBinaries({containerd: folder, runc: '/etc/passwd'}, '');
    expect(find).toThrow(`not installed: "${folder}" (--containerd); "/etc/passwd" (--runc)`);
  });
});

describe('processes', () => {
  test('containerd is recognized only by its configuration file', () => {
    const argv = ['/usr/bin/containerd', '--config', '/r/config.toml'];
    expect(isContainerdWithConfig('/r/config.toml', aProcess({argv}))).toBe(true);
    expect(isContainerdWithConfig('/r/config', aProcess({argv}))).toBe(false);
  });

  test.each([
    ['/usr/bin/containerd-shim-runc-v2', '/r/containerd.sock', true],
    ['containerd-shim-runc-v2', '/r/containerd.sock', true],
    ['/usr/bin/containerd-shim-runc-v2', '/run/containerd/containerd.sock', false],
    ['/usr/bin/ctr', '/r/containerd.sock', false],
  ])('%s -address %s belongs to this runtime: %s', (program, socket, expected) => {
    const argv = [program, '-namespace', 'k8s.io', '-id', 'x', '-address', socket];
    expect(isShimOf('/r/containerd.sock', aProcess({argv}))).toBe(expected);
  });

  test('descendants are found at every depth, and no other processes', () => {
    const [shim, child, grandchild, other] = [
      aProcess({pid: 10}),
      aProcess({pid: 11, parentPid: 10}),
      aProcess({pid: 12, parentPid: 11}),
      aProcess({pid: 13, parentPid: 1}),
    ] as const;
    expect(descendantsOf([shim], [shim, child, grandchild, other])).toEqual([child, grandchild]);
  });

  test.each([
    ['4:memory:/kubepods/podx/abc\n0::/', true],
    ['0::/kubepods/podx/abc/inner', true],
    ['1:name=systemd:/kubepods/podx/abc', true],
    ['0::/kubepods/podx/abcd', false],
    ['0::/kubepods/podx', false],
  ])('a process with %j is in /kubepods/podx/abc: %s', (cgroups, expected) => {
    expect(isInCgroup('/kubepods/podx/abc', aProcess({cgroups}))).toBe(expected);
  });
});

describe('bundles', () => {
  test.each([
    ['/kubepods/burstable/podu/abc', '/kubepods/burstable/podu/abc'],
    ['k8s.io/abc', '/k8s.io/abc'],
    [
      'kubepods-burstable-podu.slice:cri-containerd:abc',
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu.slice/cri-containerd-abc.scope',
    ],
    ['', undefined],
    [undefined, undefined],
    ['/', undefined],
    ['/system.slice', undefined],
    ['/abc/payload', undefined],
    ['system.slice:cri-containerd:other', undefined],
  ])('the own cgroup of the container abc with %j is %j', (cgroupsPath, expected) => {
    expect(bundleCgroup({id: 'abc', cgroupsPath, shimSocket: undefined})).toBe(expected);
  });

  test.each([
    ['address', 'unix:///run/containerd/s/1'],
    ['bootstrap.json', '{"version":2,"address":"unix:///run/containerd/s/1","protocol":"ttrpc"}'],
  ])("the shim's socket is read from %s", async (file, content) => {
    const rootDir = await temporaryDirectory();
    const layout = computeRuntimeLayout(rootDir);
    const bundle = join(layout.stateDir, 'io.containerd.runtime.v2.task', 'k8s.io', 'abc');
    await mkdir(bundle, {recursive: true});
    await writeFile(join(bundle, file), content);
    await writeFile(join(bundle, 'config.json'), '{"linux":{"cgroupsPath":"/k8s.io/abc"}}');
    expect(listBundles(layout)).toEqual([
      {id: 'abc', cgroupsPath: '/k8s.io/abc', shimSocket: '/run/containerd/s/1'},
    ]);
  });

  test('a runtime that was never started has no bundles', () => {
    expect(listBundles(computeRuntimeLayout('/nowhere'))).toEqual([]);
  });
});

test('mounts have unescaped paths, and the newest is first', () => {
  const mounts = parseMountInfo(
    [
      '22 1 0:20 / / rw - ext4 /dev/vda rw',
      '40 22 0:39 / /r/state/with\\040space rw shared:1 - tmpfs shm rw',
      '41 40 0:40 / /r/state/with\\040space/deep rw - overlay overlay rw',
      '42 22 0:41 / /r/state-of-another rw - tmpfs tmpfs rw',
      '',
    ].join('\n'),
  );
  expect(mountsBelow('/r/state', mounts)).toEqual(['/r/state/with space/deep', '/r/state/with space']);
});

test("only docker's own registry is omitted", () => {
  const RepoTags = ['busybox:1', 'me/app:2', 'localhost/x:3', 'reg.example:5000/y:4'];
  expect(dockerImageNames([{RepoTags}, {RepoTags: null}])).toEqual([
    'docker.io/library/busybox:1',
    'docker.io/me/app:2',
    'localhost/x:3',
    'reg.example:5000/y:4',
  ]);
});
