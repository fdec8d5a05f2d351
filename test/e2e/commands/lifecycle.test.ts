import {appendFile, rename} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {runPod} from '../harness/run-pod.js';
import {runtimes} from '../harness/runtimes-under-test.js';
import {syncReadyPod} from '../harness/sync-ready-pod.js';
import type {TestRuntime} from '../harness/test-runtime.js';

/** Exits with 6 on SIGTERM. */
const SCRIPT = 'trap "exit 6" TERM; sleep 3600 & wait';

describe.each(runtimes)('the lifecycle of containers: $name', (which) => {
  let testbed: PodTestbed;
  let runtime: TestRuntime;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    ({runtime} = testbed);
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
  });

  /** Runs a pod with CRI calls only; it is removed at the end of the test. */
  async function runBarePod(name: string, command: readonly string[] = ['sh', '-c', SCRIPT]) {
    const running = await runPod(runtime.connection, {name, command});
    onTestFinished(async () => {
      await runtime.kcri(['rmp', '--force', running.podSandboxId]);
    });
    return running;
  }

  test('wait ends at the exit and the deletion of a pod of another client', async () => {
    const {containerId} = await runBarePod('job');
    expect(await runtime.output('wait', 'job', '--for=condition=Ready')).toBe('pod/job condition met\n');
    const exit = runtime.kcri(['wait', 'job/main', '--for=exit', '--exit-code', '--timeout=-1']);
    const deleted = runtime.kcri(['wait', containerId, '--for=delete', '--timeout=-1']);
    await runtime.output('stop', '-t', '10', containerId);
    expect(await exit).toEqual({stdout: '6\n', stderr: '', exitCode: 6});
    expect((await runtime.kcri(['wait', 'job', '--for=condition=Ready'])).stderr).toMatch(
      /container "main" exited with 6 \(Error\), and is not restarted: nothing manages it\n$/,
    );
    await runtime.output('rmp', '-f', 'job');
    expect((await deleted).exitCode).toBe(0);
  });

  test('wait finds lines of the log of a pod of kcri, also in the file after a rotation', async () => {
    const manifest = aManifest('writer', {
      containers: [aContainer('main', {command: ['sh', '-c', `echo first; ${SCRIPT}`]})],
    });
    const pod = await syncReadyPod(testbed, 'writer', manifest);
    expect(await runtime.output('wait', 'writer', '--for=log=^fi')).toBe('first\n');
    const found = runtime.kcri(['wait', 'writer', '--for=log=^last$', '--timeout=-1']);
    const log = join(testbed.logsDir, `default_writer_${pod.uid}`, 'main', '0.log');
    const line = (text: string): string => `${new Date().toISOString()} stdout F ${text}\n`;
    await appendFile(log, line('second'));
    await rename(log, `${log}.20991231-235959`);
    await appendFile(log, line('last'));
    expect(await found).toEqual({stdout: 'last\n', stderr: '', exitCode: 0});
  });

  test('restart replaces the container of another client, and of a sync', async () => {
    const {containerId, podSandboxId} = await runBarePod('tool', [
      'sh',
      '-c',
      `echo $0 $HOME; ${SCRIPT}`,
      'arg',
    ]);
    const id = (await runtime.output('restart', 'tool/main', '-q', '-t', '10')).trim();
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    const {containers} = await runtime.connection.runtime.listContainers({filter: {podSandboxId}});
    expect(containers).toMatchObject([
      {id, state: 'CONTAINER_RUNNING', metadata: {name: 'main', attempt: 1}},
    ]);
    const config = async (of: string): Promise<unknown> =>
      JSON.parse(await runtime.output('inspect', of, '-o', 'jsonpath={.info.config.command}')) as unknown;
    expect(await config(id)).toEqual(['sh', '-c', `echo $0 $HOME; ${SCRIPT}`, 'arg']);
    expect((await runtime.kcri(['inspect', containerId])).exitCode).toBe(1);

    const pod = await syncReadyPod(testbed, 'restarted', aManifest('restarted'));
    await runtime.output('restart', 'pod/restarted');
    const {containers: after} = await testbed.pod('restarted');
    // The last instance stays, for its log, as after a restart by the kubelet.
    expect(after.toSorted((a, b) => b.metadata!.attempt - a.metadata!.attempt)).toMatchObject([
      {state: 'CONTAINER_RUNNING', metadata: {name: 'main', attempt: 1}},
      {state: 'CONTAINER_EXITED', metadata: {name: 'main', attempt: 0}},
    ]);
    expect(testbed.log({uid: pod.uid, name: 'restarted'}, 'main', 1)).toBe('');
    expect(await runtime.output('get', 'pods', 'restarted', '--no-headers')).toMatch(
      /^restarted +1\/1 +Running +1 /,
    );
  });

  test('a container that cannot be created again keeps running', async () => {
    const {podSandboxId} = await runBarePod('kept');
    await runtime.output('stopp', podSandboxId);
    const {stderr, exitCode} = await runtime.kcri(['restart', 'kept/main']);
    expect({stderr, exitCode}).toMatchObject({
      stderr: expect.stringContaining('the sandbox of its pod is stopped') as string,
      exitCode: 1,
    });
  });

  test('tree shows the processes of a container below their parents', async () => {
    await runBarePod('forest', ['sh', '-c', 'sleep 4242 & wait']);
    await until(async () => (await runtime.output('tree', 'forest')).includes('sleep 4242'));
    const text = await runtime.output('tree', 'forest');
    expect(text).toMatch(
      /^kcri-e2e\/forest\n└─ sandbox \w{13} {2}Ready\n {3}├─ \d+ .*pause.*\n {3}└─ container main \w{13} {2}Running\n/,
    );
    expect(text).toMatch(/\n {6}└─ \d+ {2}root {2}0:00 {2}\S+ {2}sh -c sleep 4242 & wait\n/);
    expect(text).toMatch(/\n {9}[├└]─ \d+ {2}root {2}0:00 {2}\S+ {2}sleep 4242\n/);
    const pid = await runtime.output('inspect', 'forest/main', '-o', 'jsonpath={.info.pid}');
    const path = 'jsonpath={.pods[0].sandboxes[0].containers[0].processes[0].pid}';
    expect(await runtime.output('tree', 'forest', '-o', path)).toBe(pid);
  });
});
