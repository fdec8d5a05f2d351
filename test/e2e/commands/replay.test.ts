import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

/** A pod with a volume, a second container that fails, and one that ends. */
const MANIFEST = aManifest('replayed', {
  restartPolicy: 'Never',
  initContainers: [aContainer('first', {command: shellCommand('echo done')})],
  containers: [
    aContainer('writes', {
      command: shellCommand('echo data > /data/file; sleep 5'),
      volumeMounts: [{name: 'data', mountPath: '/data'}],
    }),
    aContainer('fails', {command: shellCommand('exit 3')}),
  ],
  volumes: [{name: 'data', emptyDir: {}}],
});

describe.each(newestRuntime)('replay: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
  });

  test('a recorded sync of a pod is answered as recorded, and a planted difference is found', async () => {
    const {runtime} = testbed;
    const directory = await temporaryDirectory();
    const file = join(directory, 'calls.jsonl');
    const socket = join(directory, 'record.sock');
    const recorder = runtime.start(['record', `--listen=${socket}`, `--file=${file}`]);
    onTestFinished(async () => {
      recorder.kill('SIGKILL');
      await recorder.exited;
    });
    await recorder.waitForOutput(/recording calls/);
    const env = {CONTAINER_RUNTIME_ENDPOINT: `unix://${socket}`};
    expect((await testbed.sync(MANIFEST, ['--wait', 'complete'], {env})).exitCode).toBe(3);
    const {uid} = await testbed.pod('replayed');
    expect((await runtime.kcri(['delete', 'replayed'], {env})).exitCode).toBe(0);
    recorder.kill('SIGINT');
    await recorder.exited;

    const same = await runtime.kcri(['replay', file]);
    expect(same).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('all answered as recorded') as string,
      exitCode: 0,
    });

    const lines = (await readFile(file, 'utf8')).split('\n');
    const planted = lines.map((line) =>
      line.includes('"ContainerStatus"') ? line.replace('"exitCode":3', '"exitCode":4') : line,
    );
    await writeFile(file, planted.join('\n'));
    const {stdout, exitCode} = await runtime.kcri(['replay', file, '-o', 'json']);
    expect(exitCode).toBe(1);
    const {differences} = JSON.parse(stdout) as {differences: unknown};
    expect(differences).toContainEqual(
      expect.objectContaining({
        method: 'ContainerStatus',
        object: '<C:replayed/fails/0>',
        fields: [{path: 'resp.status.exitCode', a: 4, b: 3}],
      }),
    );
    expect((await runtime.connection.runtime.listPodSandbox()).items).toEqual([]);
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });
});
