import {execFileSync} from 'node:child_process';
import {
  chown,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {buildOciArchive, toOciArchitecture} from '../../../src/private-runtime/image/oci-image.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import type {KcriOptions, KcriResult} from '../harness/kcri-process.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed, type RunningPodState} from '../harness/pod-testbed.js';
import {runtimes} from '../harness/runtimes-under-test.js';

/** Image with a single program, without a shell or tar. */
const DISTROLESS = 'localhost/distroless:1';

const VOLUMES = {
  volumes: [{name: 'disk', emptyDir: {}}],
  containers: [
    aContainer('main', {volumeMounts: [{name: 'disk', mountPath: '/disk'}]}),
    aContainer('locked', {
      volumeMounts: [{name: 'disk', mountPath: '/disk'}],
      securityContext: {readOnlyRootFilesystem: true},
    }),
    {name: 'bare', image: DISTROLESS, command: ['/busybox', 'sleep', '3600']},
    aContainer('swapper', {
      command: shellCommand(
        'mkdir -p /tree/a /tree/real; echo inside > /tree/real/hostname; while :; do ' +
          'ln -sfn /etc /tree/a/x; rm -rf /tree/a/x; cp -r /tree/real /tree/a/x; rm -rf /tree/a/x; done',
      ),
    }),
  ],
};

async function loadDistroless(runtime: PodTestbed['runtime']): Promise<void> {
  const file = join(runtime.rootDir, 'distroless.tar');
  const data = await readFile('/bin/busybox');
  const image = {
    names: [DISTROLESS],
    architecture: toOciArchitecture(process.arch),
    command: ['/busybox'],
    env: [],
    files: [{type: 'file', path: 'busybox', mode: 0o755, data}] as const,
  };
  await writeFile(file, buildOciArchive(image));
  await runtime.output('runtime', 'load', file);
  await rm(file);
}

describe.each(runtimes)('files of containers: $name', (which) => {
  let testbed: PodTestbed;
  let pod: RunningPodState;
  let directory: string;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    await loadDistroless(testbed.runtime);
    expect(await testbed.sync(aManifest('web', VOLUMES))).toMatchObject({exitCode: 0});
    pod = await testbed.pod('web');
  });
  afterAll(async () => {
    await testbed.delete('web');
    await testbed[Symbol.asyncDispose]();
  });

  const kcri = (args: readonly string[], options?: KcriOptions): Promise<KcriResult> =>
    testbed.runtime.kcri(args, options);
  const cp = async (...args: readonly string[]): Promise<void> => {
    expect(await kcri(['cp', ...args])).toEqual({stdout: '', stderr: '', exitCode: 0});
  };
  const exec = async (container: string, script: string): Promise<string> => {
    const {id} = pod.containers.find(({metadata}) => metadata?.name === container)!;
    return await testbed.exec(id, 'sh', '-c', script);
  };

  test('cp copies files and directories in both directions, with owners and modes', async () => {
    directory = await temporaryDirectory();
    await mkdir(join(directory, 'site/sub'), {recursive: true});
    await writeFile(join(directory, 'site/index'), 'hello', {mode: 0o640});
    await symlink('index', join(directory, 'site/link'));
    await chown(join(directory, 'site/index'), 1234, 56);
    await cp(join(directory, 'site'), 'web/main:/srv');
    await cp(`${directory}/site/.`, 'web:disk', '-c', 'main');
    expect(await exec('main', 'cat /srv/index; stat -c " %u %g %a" /srv/index; readlink /srv/link')).toBe(
      'hello 1234 56 640\nindex',
    );
    expect(await exec('main', 'ls /disk')).toBe('index\nlink\nsub');
    await cp('web/locked:/disk', join(directory, 'back'));
    expect(await stat(join(directory, 'back/index'))).toMatchObject({uid: 1234, gid: 56, mode: 0o100640});
    expect(await readlink(join(directory, 'back/link'))).toBe('index');
    await cp('web/main:/bin/busybox', 'web/bare:/copied');
    await cp('web/bare:/copied', join(directory, 'busybox'));
    expect((await readFile(join(directory, 'busybox'))).equals(await readFile('/bin/busybox'))).toBe(true);
  });

  test('cp reads and writes archives, without tar in the container', async () => {
    directory = await temporaryDirectory();
    await mkdir(join(directory, 'in'));
    await writeFile(join(directory, 'in/file'), 'archived');
    const archive = execFileSync('tar', ['c', '-C', join(directory, 'in'), '.']);
    const input = archive.toString('latin1');
    expect(await kcri(['cp', '-', 'web/bare:/'], {input})).toEqual({stdout: '', stderr: '', exitCode: 0});
    const {stdout} = await kcri(['cp', 'web/bare:/file', '-']);
    expect(execFileSync('tar', ['xO'], {input: stdout, encoding: 'utf8'})).toBe('archived');
    const listed = await kcri(['cp', 'web/bare:/', '-']);
    // /proc and /sys of the container are not copied.
    expect(listed.stderr).toMatch(/skipping "web\/bare:\/proc": it is a proc filesystem/);
  });

  test('cp keeps to the container, whatever links it has', async () => {
    directory = await temporaryDirectory();
    await writeFile(join(directory, 'secret'), 'host');
    await exec('main', `ln -s ${directory}/secret /absolute; ln -s ../../../../${directory}/secret /dots`);
    await exec('main', `ln -s /proc/self/root /root-of; ln -s /proc/1/root /root-of-1`);
    for (const path of ['/absolute', '/dots', `/root-of${directory}/secret`, `/root-of-1${directory}/secret`])
      expect((await kcri(['cp', '-L', `web/main:${path}`, join(directory, 'copy')])).stderr).toContain(
        'no such file or directory',
      );
    await cp('web/main:/root-of-1/etc/passwd', join(directory, 'passwd'));
    expect(await readFile(join(directory, 'passwd'), 'utf8')).toMatch(
      /^root:x:0:0:root:\/root:\/bin\/sh\nnobody/,
    );
    for (let round = 0; round < 5; round += 1) {
      await kcri(['cp', 'web/swapper:/tree', join(directory, `tree-${round}`)]);
      const found = await lstat(join(directory, `tree-${round}/a/x`)).catch(() => undefined);
      if (found?.isDirectory() === true)
        expect(
          (await readdir(join(directory, `tree-${round}/a/x`))).every((name) => name === 'hostname'),
        ).toBe(true);
    }
  });

  test('cp respects read-only root filesystems, and says why it fails', async () => {
    directory = await temporaryDirectory();
    await writeFile(join(directory, 'file'), 'x');
    const locked = await kcri(['cp', join(directory, 'file'), 'web/locked:/etc/file']);
    expect(locked.stderr).toBe(
      'kcri: writing "web/locked:/etc/file": read-only file system\n' +
        'hint: the root filesystem or the mount is read-only in the container: use a writable volume, such as an emptyDir\n',
    );
    await cp(join(directory, 'file'), 'web/locked:/disk/file');
    // A mount of a file cannot be replaced, but has its content written.
    await cp(join(directory, 'file'), 'web/main:/etc/hostname');
    expect(await exec('main', 'cat /etc/hostname')).toBe('x');
    const proc = await kcri(['cp', join(directory, 'file'), 'web/main:/proc/sysrq-trigger']);
    expect(proc.stderr).toContain('it is a proc filesystem');
    expect((await kcri(['cp', 'nowhere:/x', directory])).stderr).toContain('nowhere');
  });

  test('diff shows what differs from the image, running or not', async () => {
    directory = await temporaryDirectory();
    const script =
      'rm /etc/group; echo x >> /etc/passwd; mkdir -p /new/sub; echo y > /new/sub/file; ' +
      'rm -r /var/www; mkdir /var/www; touch /var/www/own; echo volume > /disk/on-volume';
    const writes = {
      restartPolicy: 'Never',
      volumes: [{name: 'disk', emptyDir: {}}],
      containers: [
        aContainer('main', {volumeMounts: [{name: 'disk', mountPath: '/disk'}]}),
        aContainer('done', {volumeMounts: [{name: 'disk', mountPath: '/disk'}]}),
      ],
    };
    expect(await testbed.sync(aManifest('writes', writes))).toMatchObject({exitCode: 0});
    const found = await testbed.pod('writes');
    const id = (name: string) => found.containers.find(({metadata}) => metadata?.name === name)!.id;
    await testbed.exec(id('done'), 'sh', '-c', script);
    await testbed.runtime.output('stop', '-t', '1', 'writes/done');
    const expected = [
      'C /etc',
      'D /etc/group',
      'C /etc/passwd',
      'A /new',
      'A /new/sub',
      'A /new/sub/file',
      'C /var',
      'C /var/www',
      'A /var/www/own',
      '',
    ];
    expect(await kcri(['diff', 'writes', '-c', 'done'])).toEqual({
      stdout: expected.join('\n'),
      stderr: '',
      exitCode: 0,
    });
    expect(await kcri(['diff', 'writes/main'])).toEqual({stdout: '', stderr: '', exitCode: 0});
    await testbed.exec(id('main'), 'sh', '-c', `${script}; ln -s /etc/shadow /etc/group`);
    const running = (await testbed.runtime.output('diff', 'writes/main', '-o', 'json')).trim();
    expect((JSON.parse(running) as {changes: unknown}).changes).toContainEqual({
      change: 'C',
      path: '/etc/group',
    });

    // cp reads and writes the root filesystem of a container that does not run, without its volumes.
    await cp('writes/done:/new', join(directory, 'new'));
    expect(await readFile(join(directory, 'new/sub/file'), 'utf8')).toBe('y\n');
    await cp(join(directory, 'new'), 'writes/done:/var/www/');
    expect(await testbed.runtime.output('diff', 'writes/done')).toContain('A /var/www/new/sub/file\n');
    expect((await kcri(['cp', 'writes/done:/disk/on-volume', directory])).stderr).toContain(
      'is on the volume /disk, and the container does not run',
    );
    expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain('/sys/0');
    await testbed.delete('writes');
  });
});
