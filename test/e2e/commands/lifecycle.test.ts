import {appendFile, rename} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
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
});
