import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {acquireLock} from '../../src/base/fs/lock.js';
import {canonicalEndpoint} from '../../src/cri/endpoint.js';
import {kubeletLockPath, publishKubelet} from '../../src/kubelet/pods/registry/running-kubelet.js';
import type {PodRecord} from '../../src/kubelet/pods/registry/pod-store.js';
import {runtimeRecordPath} from '../../src/private-runtime/private-endpoint.js';
import {computeRuntimeLayout} from '../../src/private-runtime/private-runtime-layout.js';
import {runKcri, type RunResult} from '../cli/run-kcri.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {
  aManifest,
  aScene,
  expectUserError,
  isMutatingCall,
  NO_LEFTOVERS,
  type PodScene,
} from './pod-scene.js';

async function anotherRuntime(): Promise<FakeRuntime> {
  const runtime = await FakeRuntime.start();
  onTestFinished(async () => {
    await runtime.stop();
  });
  return runtime;
}

async function aSyncedScene(): Promise<PodScene> {
  const scene = await aScene();
  expect(await scene.run(['sync', '-'], {stdin: aManifest()})).toMatchObject({exitCode: 0});
  scene.runtime.clearCalls();
  return scene;
}

/** Runs kcri with no endpoint given, on a machine where `found` listens. */
async function runFinding(
  scene: PodScene,
  args: readonly string[],
  ...found: readonly FakeRuntime[]
): Promise<RunResult> {
  return await runKcri(scene.args(args), {wellKnownEndpoints: found.map(({endpoint}) => endpoint)});
}

async function moveRecordTo(scene: PodScene, endpoint: string): Promise<void> {
  await changeRecord(scene, {endpoint});
}

async function changeRecord(scene: PodScene, change: Partial<PodRecord>): Promise<void> {
  const [name = ''] = await scene.records();
  const path = join(scene.rootDir, 'records', name);
  const record = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({...record, ...change}));
}

describe('a pod that was made on another runtime', () => {
  test.each([
    ['delete', ['delete', 'web'], ''],
    ['sync of the same manifest', ['sync', '-'], aManifest()],
    ['sync of a changed manifest', ['sync', '-'], aManifest({restartPolicy: 'Never'})],
    ['sync --rm', ['sync', '-', '--rm'], aManifest()],
    ['plan', ['plan', '-'], aManifest()],
    ['plan of a changed manifest', ['plan', '-'], aManifest({restartPolicy: 'Never'})],
  ])('is left alone by %s', async (_, args, stdin) => {
    const scene = await aSyncedScene();
    const other = await anotherRuntime();
    const before = await scene.listLeftovers();
    const result = await scene.run(args, {endpoint: other.endpoint, stdin});
    expectUserError(result);
    const made = await canonicalEndpoint(scene.runtime.endpoint);
    expect(result.stderr).toContain(`pod "default/web": was created on "${made}", not on "`);
    expect(result.stderr).toContain(`hint: use its runtime with "-r ${made}"`);
    expect(result.stderr).not.toContain('is left');
    expect(result.exitCode).toBe(1);
    expect(other.calls.map(({method}) => method).filter(isMutatingCall)).toEqual([]);
    expect(scene.mutatingCalls).toEqual([]);
    expect(await scene.listLeftovers()).toEqual(before);
  });

  test('is ended on its own runtime when none is named, whatever is found first', async () => {
    const scene = await aSyncedScene();
    const other = await anotherRuntime();
    expect(await runFinding(scene, ['delete', 'web'], other)).toEqual({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    expect(other.calls).toEqual([]);
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test.each([
    ['its runtime', true, 1],
    ['another runtime', false, 0],
  ])('of a kubelet is deleted unless that runs; one on %s does', async (_, isItsOwn, exitCode) => {
    const scene = await aSyncedScene();
    const other = await anotherRuntime();
    await changeRecord(scene, {manager: 'kubelet'});
    const endpoint = await canonicalEndpoint((isItsOwn ? scene.runtime : other).endpoint);
    await using lock = await acquireLock(kubeletLockPath(scene.rootDir));
    await using published = await publishKubelet(scene.rootDir, {pid: 1, startedAt: '', endpoint, urls: {}});
    expect([lock, published]).toHaveLength(2);
    const result = await scene.run(['delete', 'web']);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr.includes('is managed by kcri kubelet')).toBe(isItsOwn);
  });

  test('doesn’t keep pods of other runtimes from being deleted while its own is away', async () => {
    const scene = await aSyncedScene();
    const other = await anotherRuntime();
    await scene.run(['sync', '-'], {endpoint: other.endpoint, stdin: aManifest({name: 'other'})});
    await scene.runtime.crash();
    const result = await runFinding(scene, ['delete', 'web', 'other']);
    expectUserError(result);
    expect(result).toMatchObject({stdout: 'pod "default/other" deleted\n', exitCode: 1});
    expect(other.sandboxes).toEqual([]);
    expect(await scene.records()).toHaveLength(1);
  });
});

test('a runtime is the same one under another path of its socket', async () => {
  const scene = await aSyncedScene();
  const link = join(scene.directory, 'link.sock');
  await symlink(scene.runtime.endpoint.replace('unix://', ''), link);
  expect(await scene.run(['delete', 'web'], {endpoint: link})).toMatchObject({stderr: '', exitCode: 0});
  expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
});

describe('a pod of a private runtime', () => {
  async function onPrivateRuntime(): Promise<PodScene> {
    const scene = await aSyncedScene();
    await moveRecordTo(scene, await canonicalEndpoint(computeRuntimeLayout(scene.rootDir).endpoint));
    await scene.runtime.crash();
    return scene;
  }

  test('that was taken down is removed from the disk, without any runtime', async () => {
    const scene = await onPrivateRuntime();
    expect(await runFinding(scene, ['delete', 'web'])).toEqual({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    const {records, podDirs, logs} = await scene.listLeftovers();
    expect({records, podDirs, logs}).toEqual({records: [], podDirs: [], logs: []});
  });

  test('whose containerd has died is kept: its containers may run', async () => {
    const scene = await onPrivateRuntime();
    await mkdir(dirname(runtimeRecordPath(scene.rootDir)));
    await writeFile(runtimeRecordPath(scene.rootDir), '{}');
    const result = await runFinding(scene, ['delete', 'web']);
    expectUserError(result);
    expect(result.exitCode).toBe(1);
    const {records, podDirs} = await scene.listLeftovers();
    expect([records, podDirs]).toMatchObject([{length: 1}, {length: 1}]);
  });
});
