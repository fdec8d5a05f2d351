import {existsSync, readFileSync} from 'node:fs';
import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {busyboxSpec} from '../../../scripts/test-images.mjs';
import {buildOciArchive} from '../../../src/private-runtime/image/oci-image.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startImageRegistry} from '../harness/image-registry.js';
import {runKcriProcess} from '../harness/kcri-process.js';
import {
  runtimeUpFlags,
  MACHINE_PROGRAMS,
  newestRuntime,
  type RuntimePrograms,
} from '../harness/runtimes-under-test.js';
import {temporaryCgroupRoot} from '../harness/temporary-cgroup-root.js';
import type {RuntimeUpStatus} from '../harness/test-runtime.js';

/** A runtime whose root directory `up` created, with a pod that has an in-memory volume. */
interface Scene {
  readonly rootDir: string;
  readonly logsDir: string;
  /** Flags for the places of pods; other processes use the default cgroups at the same time. */
  readonly places: readonly string[];
  readonly kcri: (...args: readonly string[]) => Promise<string>;
}

const MANIFEST = aManifest('web', {
  volumes: [{name: 'memory', emptyDir: {medium: 'Memory'}}],
  containers: [aContainer('main', {volumeMounts: [{name: 'memory', mountPath: '/memory'}]})],
});

async function aRuntimeWithAPod(programs: RuntimePrograms): Promise<Scene> {
  const dir = await temporaryDirectory();
  const [rootDir, logsDir, archive] = [join(dir, 'root'), join(dir, 'logs'), join(dir, 'busybox.tar')];
  const run = async (args: readonly string[], input = ''): Promise<string> => {
    const {stdout, stderr, exitCode} = await runKcriProcess(args, {env: {KCRI_ROOT_DIR: rootDir}, input});
    expect({args, stderr, exitCode}).toMatchObject({exitCode: 0});
    return stdout;
  };
  const places = ['--pod-logs-dir', logsDir, '--cgroup-root', temporaryCgroupRoot()];
  await writeFile(archive, buildOciArchive(await busyboxSpec()));
  onTestFinished(async () => {
    await run(['runtime', 'down']);
  });
  await run(['runtime', 'up', ...runtimeUpFlags(programs)]);
  await run(['runtime', 'load', archive]);
  await run(['sync', '-', ...places], MANIFEST);
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).toContain(`${rootDir}/pods/`);
  return {rootDir, logsDir, places, kcri: (...args) => run(args)};
}

describe.each(newestRuntime)('runtime down with a pod created by kcri: $name', (which) => {
  test.each(['running', 'killed'])('leaves nothing of the pod, with containerd %s', async (state) => {
    const {rootDir, logsDir, kcri} = await aRuntimeWithAPod(which);
    const {pid} = JSON.parse(await kcri('runtime', 'status', '-o', 'json')) as RuntimeUpStatus;
    if (state === 'killed') process.kill(pid, 'SIGKILL');
    await kcri('runtime', 'down');
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(rootDir);
    expect(await readdir(logsDir)).toEqual([]);
    expect(existsSync(rootDir)).toBe(false);
    expect(await kcri('runtime', 'status')).toContain('no files remain');
  });
});

test('runtime down keeps the records of pods on other runtimes, and status reports them', async () => {
  const {rootDir, kcri} = await aRuntimeWithAPod(MACHINE_PROGRAMS);
  const [name = ''] = await readdir(join(rootDir, 'kcri/records'));
  const file = join(rootDir, 'kcri/records', name);
  const record = JSON.parse(readFileSync(file, 'utf8')) as object;
  await kcri('delete', 'web');
  await writeFile(file, JSON.stringify({...record, endpoint: 'unix:///elsewhere.sock'}));
  await kcri('runtime', 'down');
  expect(existsSync(file)).toBe(true);
  expect(await kcri('runtime', 'status')).toContain(`files remain in ${join(rootDir, 'kcri/records')}`);
});

test('runtime down removes the records of pulled images', async () => {
  const registry = await startImageRegistry();
  onTestFinished(() => registry.stop());
  const image = await registry.push('team/app', '1');
  const {rootDir, places, kcri} = await aRuntimeWithAPod(MACHINE_PROGRAMS);
  const pod = aManifest('pulled', {containers: [aContainer('main', {image, imagePullPolicy: 'Always'})]});
  await writeFile(join(rootDir, '../pulled.yaml'), pod);
  await kcri('sync', join(rootDir, '../pulled.yaml'), ...places);
  expect(await readdir(join(rootDir, 'image_manager/pulled'))).toHaveLength(1);
  await kcri('runtime', 'down');
  expect(existsSync(rootDir)).toBe(false);
  expect(await kcri('runtime', 'status')).toContain('no files remain');
});
