import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {parseLines} from '../../commands/record/recorder.js';
import {IMAGE, SLEEP_COMMAND} from '../harness/manifests.js';
import {runPod} from '../harness/run-pod.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';

describe.each(newestRuntime)('record: $name', (which) => {
  let runtime: TestRuntime;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
  });
  afterAll(async () => {
    await runtime.stop();
  });

  test('records the life of a pod at the socket of containerd, and puts the socket back', async () => {
    const file = join(runtime.rootDir, 'calls.jsonl');
    const recorder = runtime.start(['record', '--swap', `--file=${file}`, '--keep-output']);
    await recorder.waitForOutput(/recording calls/);
    const metadata = {name: 'recorded', namespace: 'kcri-e2e', uid: 'recorded'};
    const podConfig = join(runtime.rootDir, 'pod.json');
    await writeFile(podConfig, JSON.stringify({metadata}));
    const containerConfig = join(runtime.rootDir, 'container.json');
    const config = {metadata: {name: 'main'}, image: {image: IMAGE}, command: SLEEP_COMMAND};
    await writeFile(containerConfig, JSON.stringify(config));
    const pod = (await runtime.output('runp', podConfig)).trim();
    const container = (await runtime.output('create', pod, containerConfig, podConfig)).trim();
    await runtime.output('start', container);
    expect(await runtime.output('exec', '-s', container, 'echo', 'hello')).toBe('hello\n');
    // A stream passes through: its URL leads to the runtime.
    expect(await runtime.output('exec', container, 'echo', 'streamed')).toBe('streamed\n');
    await runtime.output('rmp', '-f', pod);
    recorder.kill('SIGINT');
    const {stderr, exitCode} = await recorder.exited;
    expect({stderr, exitCode}).toMatchObject({exitCode: 0});
    const calls = parseLines(await readFile(file, 'utf8')).slice(1);
    const named = (method: string) => calls.find((call) => call.method === method);
    expect(named('RunPodSandbox')).toMatchObject({
      code: 'OK',
      request: {config: {metadata: {name: 'recorded'}}},
      response: {podSandboxId: pod},
    });
    expect(named('CreateContainer')).toMatchObject({code: 'OK', response: {containerId: container}});
    expect(named('ExecSync')).toMatchObject({response: {stdout: Buffer.from('hello\n').toString('base64')}});
    expect(named('Exec')).toMatchObject({response: {url: expect.stringContaining('***') as string}});
    expect(named('RemovePodSandbox')).toMatchObject({code: 'OK', request: {podSandboxId: pod}});
    expect(await runtime.output('pods', '-q')).toBe('');
  });

  test('a pod that runs through the recorder keeps running after it', async () => {
    const recorder = runtime.start(['record', '--swap', '--summary']);
    await recorder.waitForOutput(/recording calls/);
    const {podSandboxId, containerId} = await runPod(runtime.connection, {name: 'kept'});
    recorder.kill('SIGKILL');
    await recorder.exited;
    // The guard puts the socket back.
    await until(async () => (await runtime.kcri(['ps', '-q', '--no-trunc'])).stdout === `${containerId}\n`);
    await runtime.output('rmp', '-f', podSandboxId);
  });
});
