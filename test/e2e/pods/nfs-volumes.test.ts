import {execFileSync} from 'node:child_process';
import {chmod, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {ifPresent} from '../../../src/base/fs/files.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

/**
 * A mount(8) for a kernel without an NFS client: it writes its arguments to a file, and mounts a directory of the node in place of
 * the server's. The server `hung.test` never answers: a helper waits for it, as mount.nfs(8) does.
 */
const MOUNT = `#!/bin/sh
case " $* " in
*" -t nfs "*) printf '%s\\n' "$*" >>"$FAKE_LOG" ;;
*) exec /usr/bin/mount "$@" ;;
esac
for target; do :; done
case "$*" in
*hung.test*) sh -c 'echo $$ >"$FAKE_LOG.hung"; exec sleep 600' & wait; exit 32 ;;
*stale.test*) echo 'mount.nfs: Stale file handle' >&2; exit 32 ;;
esac
exec /usr/bin/mount --bind "$FAKE_EXPORT" "$target"
`;

/** Returns documents of a claim and its PersistentVolume on an NFS server. */
function aVolume(name: string): readonly string[] {
  const accessModes = ['ReadWriteMany'];
  const capacity = {storage: '1Mi'};
  const spec = {
    accessModes,
    capacity,
    nfs: {server: 'fd00::1', path: '/exports/pv'},
    mountOptions: ['hard', 'nfsvers=4.2'],
  };
  const claim = {accessModes, resources: {requests: capacity}, volumeName: name};
  const aDocument = (kind: string, content: object): string =>
    JSON.stringify({apiVersion: 'v1', kind, metadata: {name}, spec: content});
  return [aDocument('PersistentVolumeClaim', claim), aDocument('PersistentVolume', spec)];
}

function aPod(name: string, volumes: readonly object[]): string {
  const volumeMounts = volumes.map((_volume, index) => ({name: `v${index}`, mountPath: `/v${index}`}));
  return aManifest(name, {
    terminationGracePeriodSeconds: 0,
    volumes: volumes.map((volume, index) => ({name: `v${index}`, ...volume})),
    containers: [aContainer('main', {volumeMounts})],
  });
}

async function fakeMount() {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'mount'), MOUNT);
  await chmod(join(directory, 'mount'), 0o755);
  const exported = join(directory, 'export');
  await mkdir(exported);
  await writeFile(join(exported, 'file'), 'from the server');
  const log = join(directory, 'log');
  const env = {FAKE_LOG: log, FAKE_EXPORT: exported, PATH: `${directory}:${process.env['PATH']}`};
  const calls = async (): Promise<readonly string[]> =>
    ((await ifPresent(() => readFile(log, 'utf8'))) ?? '').split('\n').slice(0, -1);
  return {env, calls, hungPid: () => ifPresent(() => readFile(`${log}.hung`, 'utf8'))};
}

describe.each(newestRuntime)('NFS volumes: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const volumesOf = async (name: string): Promise<string> => {
    const {uid} = await testbed.pod(name);
    return join(testbed.runtime.rootDir, 'pods', uid, 'volumes/kubernetes.io~nfs');
  };

  test('are mounted as by a kubelet, from the spec and from a PersistentVolume, and show their history', async () => {
    const {env, calls} = await fakeMount();
    const inline = {nfs: {server: 'nfs.test', path: '/exports/in', readOnly: true}};
    const claim = {persistentVolumeClaim: {claimName: 'shared'}};
    const manifest = [aPod('nfs', [inline, claim]), ...aVolume('shared')].join('\n---\n');
    expect(await testbed.sync(manifest, [], {env})).toMatchObject({exitCode: 0});
    const directory = await volumesOf('nfs');
    onTestFinished(async () => {
      await testbed.delete('nfs');
    });
    onTestFinished(() => {
      // They are not of an NFS server, so kcri leaves them alone.
      for (const name of ['v0', 'shared']) execFileSync('umount', [join(directory, name)]);
    });
    expect((await calls()).toSorted()).toEqual([
      `-t nfs -o hard,nfsvers=4.2 [fd00::1]:/exports/pv ${directory}/shared`,
      `-t nfs -o ro nfs.test:/exports/in ${directory}/v0`,
    ]);
    const {containers} = await testbed.pod('nfs');
    const read = await testbed.exec(
      containers[0]!.id,
      'sh',
      '-c',
      'cat /v0/file /v1/file; touch /v0/new || true',
    );
    expect(read).toContain('from the serverfrom the server');
    const {stdout} = await testbed.runtime.kcri(['get', 'volumes', 'nfs', '--no-headers', '-o', 'wide']);
    expect(stdout).toMatch(
      /^nfs +v0 +nfs +<none> +mounted .*\nnfs +v1 +nfs +<none> +mounted .* default\/shared +shared /,
    );
    const described = await testbed.runtime.kcri(['describe', 'nfs']);
    expect(described.stdout).toMatch(
      / {2}v1:\n {4}Kind: +nfs\n {4}State: +mounted\n.*\n.*\n {4}Mounted: .* ago\), in /,
    );
    // The next process finds them mounted.
    expect(await testbed.sync(manifest, [], {env})).toMatchObject({exitCode: 0});
    expect(await calls()).toHaveLength(2);
  });

  test('a stale server is an error with its cause, and one that hangs holds up neither others nor the deletion', async () => {
    const {env, calls, hungPid} = await fakeMount();
    const stale = {nfs: {server: 'stale.test', path: '/x'}};
    const hung = {nfs: {server: 'hung.test', path: '/x'}};
    const failed = await testbed.sync(aPod('stale', [stale]), [], {env});
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain('Stale file handle');
    const manifest = [aPod('hung', [hung]), aPod('fine', [{emptyDir: {}}])].join('\n---\n');
    onTestFinished(async () => {
      await testbed.delete('fine');
    });
    const syncing = testbed.startSync(manifest, [], {env});
    await until(
      async () => (await testbed.find('fine'))?.containers.length === 1 && (await hungPid()) !== undefined,
    );
    expect((await calls()).filter((call) => call.includes('hung.test'))).toHaveLength(1);
    syncing.kill('SIGINT');
    await syncing.exited;
    expect(await testbed.delete('hung')).toMatchObject({exitCode: 0});
    // Neither mount(8) nor its helper is left.
    const pid = Number(await hungPid());
    await until(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });
});
