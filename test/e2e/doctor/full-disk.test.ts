import {mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {fillDisk} from '../harness/fill-disk.js';
import {interruptWhen, WAIT_FOR_FAILED} from '../harness/kcri-process.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {mountSmallDisk} from '../harness/small-disk.js';
import {temporaryCgroupRoot} from '../harness/temporary-cgroup-root.js';
import {startPrivateRuntime} from '../harness/test-runtime.js';

interface Finding {
  readonly rule: string;
  readonly cause: string;
}

describe.each(newestRuntime)('a full disk of the runtime: $name', (which) => {
  test('doctor names the disk, why names it as the cause, and saving to it leaves nothing behind', async () => {
    const disk = await mountSmallDisk(200);
    onTestFinished(async () => {
      await disk[Symbol.asyncDispose]();
    });
    const runtime = await startPrivateRuntime(which, disk.path);
    const rootDir = await mkdtemp(join(tmpdir(), 'kcri-e2e-root-'));
    onTestFinished(async () => {
      await runtime.stop();
      await rm(rootDir, {recursive: true});
    });
    const elsewhere = ['--root-dir', rootDir, '-r', runtime.endpoint];
    const doctor = async () =>
      await runtime.kcri([...elsewhere, 'doctor', '-o', 'json', '--only', 'disk/space']);
    expect((await doctor()).stdout).not.toContain(`${disk.path}/`);

    const file = join(disk.path, 'fill');
    await fillDisk(file);
    const full = await doctor();
    expect(full.exitCode).toBe(2);
    expect(full.stdout).toContain(`${disk.path}/`);
    const saved = join(disk.path, 'node.tgz');
    const saving = await runtime.kcri([...elsewhere, 'doctor', '--save', saved]);
    expect(saving.stderr).toContain('no space left on device');
    expect(await readdir(disk.path)).not.toContain('node.tgz');

    const places = ['--pod-logs-dir', join(rootDir, 'logs'), '--cgroup-root', temporaryCgroupRoot()];
    const input = aManifest('web', {hostNetwork: true, containers: [aContainer('main')]});
    const findings = async (): Promise<readonly Finding[]> => {
      const {stdout} = await runtime.kcri([...elsewhere, 'why', 'web', '-o', 'json']);
      if (stdout === '') return [];
      return (JSON.parse(stdout) as {items: {findings: readonly Finding[]}[]}).items[0]?.findings ?? [];
    };
    const sync = runtime.start([...elsewhere, 'sync', '-', WAIT_FOR_FAILED, ...places], {input});
    await interruptWhen(async () => (await findings()).some(({rule}) => rule === 'disk-full'), sync);
    expect(await findings()).toMatchObject([
      {rule: 'disk-full', cause: expect.stringContaining('no space is left') as string},
    ]);
    await rm(file);
    expect(await runtime.kcri([...elsewhere, 'delete', 'web'])).toMatchObject({exitCode: 0});
  });
});
