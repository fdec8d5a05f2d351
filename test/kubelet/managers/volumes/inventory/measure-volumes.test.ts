import {execFileSync, spawn} from 'node:child_process';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../../src/base/clock.js';
import {
  measureVolumes,
  type UsageReader,
} from '../../../../../src/kubelet/managers/volumes/inventory/measure-volumes.js';
import {systemMounter} from '../../../../../src/kubelet/managers/volumes/mounter.js';
import type {NodeVolume} from '../../../../../src/kubelet/managers/volumes/inventory/node-volume.js';
import {mountedDirectory} from '../../../../base/mounted-directory.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {until} from '../../../../base/until.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';

function aVolume(fields: Partial<NodeVolume>): NodeVolume {
  return {pod: {uid: 'u1'}, name: 'a', kind: 'emptyDir', state: 'mounted', isBlock: false, ...fields};
}

const never = async (): Promise<never> => await new Promise(() => undefined);

async function measure(volume: NodeVolume) {
  const options = {
    clock: systemClock,
    signal: new AbortController().signal,
    mounts: await systemMounter.list(),
  };
  return (await measureVolumes([volume], options)).get(volume);
}

async function mountAt(path: string) {
  return (await systemMounter.list()).find((mount) => mount.path === path);
}

/** Mounts a FUSE file system whose server answers nothing, so that statfs(2) waits forever, until the end of the test. */
async function mountHanging(): Promise<string> {
  const path = await temporaryDirectory();
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
  const script = `exec 3<>/dev/fuse; mount -i -t fuse.kcritest -o ${options} kcri-test "$1" && exec sleep 600`;
  const server = spawn('sh', ['-c', script, 'sh', path], {stdio: 'ignore'});
  onTestFinished(() => {
    execFileSync('umount', ['-l', path]);
    server.kill('SIGKILL');
  });
  await until(async () => (await mountAt(path)) !== undefined);
  return path;
}

test('a directory is measured by its files, and a file system as a whole', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'file'), Buffer.alloc(1 << 20));
  expect(await measure(aVolume({path: directory}))).toMatchObject({usage: {inodesUsed: 2n}});
  const path = await mountedDirectory();
  const measured = await measure(aVolume({kind: 'nfs', path, mount: await mountAt(path)}));
  expect(measured).toMatchObject({usage: {usedBytes: 0n}});
});

test('hostPath volumes and volumes that are not mounted are not measured', async () => {
  const path = await temporaryDirectory();
  expect(await measure(aVolume({kind: 'hostPath', path}))).toBeUndefined();
  expect(await measure(aVolume({kind: 'nfs', path}))).toBeUndefined();
});

test('directories with too many files have no known usage, and only two are walked through at once', async () => {
  const clock = new FakeClock();
  const walks: AbortSignal[] = [];
  const reader: UsageReader = {
    ...{fileSystem: never, remoteFileSystem: never, device: never},
    directory: async (_path, signal) => {
      walks.push(signal);
      return await never();
    },
  };
  const directories = Array.from({length: 30}, (_, index) => aVolume({path: `/d${index}`}));
  const mounts = ['nfs4', 'ext4'].map((fileSystem) => ({path: `/${fileSystem}`, fileSystem}));
  const file = mounts.map((mount) =>
    aVolume({kind: 'nfs', path: mount.path, mount: {...mount, device: '0:1', source: 's'}}),
  );
  const {signal} = new AbortController();
  const measuring = measureVolumes([...directories, ...file], {clock, signal, mounts: [], reader});
  expect(walks).toHaveLength(2);
  for (let second = 0; second < 12; second++) await clock.advance(1000);
  expect(await measuring).toEqual(new Map([[file[0], {error: 'it did not answer within 1s'}]]));
  expect(walks.length).toBeLessThanOrEqual(20);
  expect(walks.every(({aborted}) => aborted)).toBe(true);
});

test.skipIf(process.geteuid?.() !== 0)(
  'a file system that hangs is given up, and keeps no walk',
  async () => {
    const path = await mountHanging();
    expect(await measure(aVolume({kind: 'nfs', path, mount: await mountAt(path)}))).toEqual({
      error: 'it did not answer within 1s',
    });
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'in'));
    execFileSync('mount', ['--bind', path, join(directory, 'in')]);
    onTestFinished(() => {
      execFileSync('umount', ['-l', join(directory, 'in')]);
    });
    expect(await measure(aVolume({path: directory}))).toBeUndefined();
  },
);

test.skipIf(process.geteuid?.() !== 0)('a remote file system is asked in another process', async () => {
  const path = await mountedDirectory();
  const mount = {device: '0:1', fileSystem: 'nfs4', source: 's:/', path};
  expect(await measure(aVolume({kind: 'nfs', path, mount}))).toMatchObject({
    usage: {usedBytes: 0n, inodesUsed: 1n},
  });
  const missing = {...mount, path: join(path, 'missing')};
  expect(await measure(aVolume({kind: 'nfs', path: missing.path, mount: missing}))).toEqual({
    error: 'No such file or directory',
  });
});
