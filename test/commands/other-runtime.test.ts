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
  expectUserError,
  isMutatingCall,
  NO_LEFTOVERS,
  type CommandTestbed,
  createSyncedTestbed,
} from './command-testbed.js';

async function anotherRuntime(): Promise<FakeRuntime> {
  const runtime = await FakeRuntime.start();
  onTestFinished(async () => {
    await runtime.stop();
  });
  return runtime;
}

/** Runs kcri without an endpoint on a machine with a listener at `found`. */
async function runWithDiscovery(
  testbed: CommandTestbed,
  args: readonly string[],
  ...found: readonly FakeRuntime[]
): Promise<RunResult> {
  return await runKcri(testbed.args(args), {wellKnownEndpoints: found.map(({endpoint}) => endpoint)});
}

async function moveRecordTo(testbed: CommandTestbed, endpoint: string): Promise<void> {
  await changeRecord(testbed, {endpoint});
}

async function changeRecord(testbed: CommandTestbed, change: Partial<PodRecord>): Promise<void> {
  const [name = ''] = await testbed.records();
  const path = join(testbed.rootDir, 'kcri/records', name);
  const record = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({...record, ...change}));
}

describe('a pod created on another runtime', () => {
  test.each([
    ['delete', ['delete', 'web'], ''],
    ['sync of the same manifest', ['sync', '-'], aManifest()],
    ['sync of a changed manifest', ['sync', '-'], aManifest({restartPolicy: 'Never'})],
    ['sync --rm', ['sync', '-', '--rm'], aManifest()],
    ['plan', ['plan', '-'], aManifest()],
    ['plan of a changed manifest', ['plan', '-'], aManifest({restartPolicy: 'Never'})],
  ])('is not changed by %s', async (_, args, stdin) => {
    const testbed = await createSyncedTestbed();
    const other = await anotherRuntime();
    const before = await testbed.listLeftovers();
    const result = await testbed.run(args, {endpoint: other.endpoint, stdin});
    expectUserError(result);
    const createdOn = await canonicalEndpoint(testbed.runtime.endpoint);
    expect(result.stderr).toContain(`pod "default/web": its runtime is "${createdOn}", not "`);
    expect(result.stderr).toContain(`hint: use its runtime with "-r ${createdOn}"`);
    expect(result.stderr).not.toContain('is left');
    expect(result.exitCode).toBe(1);
    expect(other.calls.map(({method}) => method).filter(isMutatingCall)).toEqual([]);
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(before);
  });

  test('is deleted on its own runtime by default', async () => {
    const testbed = await createSyncedTestbed();
    const other = await anotherRuntime();
    expect(await runWithDiscovery(testbed, ['delete', 'web'], other)).toEqual({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    expect(other.calls).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test.each([
    ['its runtime', true, 1],
    ['another runtime', false, 0],
  ])(
    'of a kubelet is deleted unless the kubelet runs: one that runs on %s',
    async (_, isSameRuntime, exitCode) => {
      const testbed = await createSyncedTestbed();
      const other = await anotherRuntime();
      await changeRecord(testbed, {manager: 'kubelet'});
      const endpoint = await canonicalEndpoint((isSameRuntime ? testbed.runtime : other).endpoint);
      await using lock = await acquireLock(kubeletLockPath(testbed.rootDir));
      await using published = await publishKubelet(testbed.rootDir, {
        pid: 1,
        startedAt: '',
        endpoint,
        urls: {},
      });
      expect([lock, published]).toHaveLength(2);
      const result = await testbed.run(['delete', 'web']);
      expect(result.exitCode).toBe(exitCode);
      expect(result.stderr.includes('manages it')).toBe(isSameRuntime);
    },
  );

  test('is not needed to delete pods of other runtimes while its own is unavailable', async () => {
    const testbed = await createSyncedTestbed();
    const other = await anotherRuntime();
    await testbed.run(['sync', '-'], {endpoint: other.endpoint, stdin: aManifest({name: 'other'})});
    await testbed.runtime.crash();
    const result = await runWithDiscovery(testbed, ['delete', 'web', 'other']);
    expectUserError(result);
    expect(result).toMatchObject({stdout: 'pod "default/other" deleted\n', exitCode: 1});
    expect(other.sandboxes).toEqual([]);
    expect(await testbed.records()).toHaveLength(1);
  });
});

test('belongs to the same runtime if only the path of the socket differs', async () => {
  const testbed = await createSyncedTestbed();
  const link = join(testbed.directory, 'link.sock');
  await symlink(testbed.runtime.endpoint.replace('unix://', ''), link);
  expect(await testbed.run(['delete', 'web'], {endpoint: link})).toMatchObject({stderr: '', exitCode: 0});
  expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
});

describe('a pod of a private runtime', () => {
  async function onPrivateRuntime(): Promise<CommandTestbed> {
    const testbed = await createSyncedTestbed();
    await moveRecordTo(testbed, await canonicalEndpoint(computeRuntimeLayout(testbed.rootDir).endpoint));
    await testbed.runtime.crash();
    return testbed;
  }

  test('that was removed is deleted from disk without a runtime', async () => {
    const testbed = await onPrivateRuntime();
    expect(await runWithDiscovery(testbed, ['delete', 'web'])).toEqual({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    const {records, podDirs, logs} = await testbed.listLeftovers();
    expect({records, podDirs, logs}).toEqual({records: [], podDirs: [], logs: []});
  });

  test('whose containerd has died is kept, since its containers may still run', async () => {
    const testbed = await onPrivateRuntime();
    await mkdir(dirname(runtimeRecordPath(testbed.rootDir)));
    await writeFile(runtimeRecordPath(testbed.rootDir), '{}');
    const result = await runWithDiscovery(testbed, ['delete', 'web']);
    expectUserError(result);
    expect(result.exitCode).toBe(1);
    const {records, podDirs} = await testbed.listLeftovers();
    expect([records, podDirs]).toMatchObject([{length: 1}, {length: 1}]);
  });
});
