import {expect, test} from 'vitest';
import {until} from '../base/until.js';
import {runKcri} from '../cli/run-kcri.js';
import {aContainerSpec, createTestbed, type CommandTestbed} from './command-testbed.js';
import {startKubelet} from './kubelet/kubelet-testbed.js';

function aDeployment(replicas: number): string {
  const spec = {containers: [aContainerSpec('main')], terminationGracePeriodSeconds: 1};
  return JSON.stringify({
    ...{apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'web'}},
    spec: {
      replicas,
      selector: {matchLabels: {app: 'web'}},
      template: {metadata: {labels: {app: 'web'}}, spec},
    },
  });
}

function aJob(fields: object = {}): string {
  const spec = {restartPolicy: 'Never', containers: [aContainerSpec('main')]};
  return JSON.stringify({
    ...{apiVersion: 'batch/v1', kind: 'Job', metadata: {name: 'load'}},
    spec: {backoffLimit: 0, ...fields, template: {spec}},
  });
}

async function wait({rootDir, runtime: {endpoint}}: CommandTestbed, ...args: readonly string[]) {
  return await runKcri(['--root-dir', rootDir, 'wait', ...args], {endpoint});
}

function exitRunning({runtime}: CommandTestbed, exitCode: number): void {
  const running = runtime.containers.find(({state}) => state === 'CONTAINER_RUNNING');
  runtime.exitContainer(running?.id ?? '', exitCode);
}

test('a Deployment is available when all its pods are ready', async () => {
  const testbed = await createTestbed();
  expect(await testbed.run(['sync', '-'], {stdin: aDeployment(2)})).toMatchObject({exitCode: 0});
  expect(await wait(testbed, 'deploy/web', '--for=condition=Available')).toEqual({
    stdout: 'deployment.apps/web condition met\n',
    stderr: '',
    exitCode: 0,
  });
  const {stdout} = await wait(testbed, 'deployments/web', '--for=condition=available', '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject({
    items: [{kind: 'Deployment', metadata: {name: 'web'}, status: {replicas: 2, readyReplicas: 2}}],
  });
  exitRunning(testbed, 1);
  expect(await wait(testbed, 'deploy/web', '--for=condition=Available', '--timeout=0')).toEqual({
    stdout: '',
    stderr:
      'kcri: timed out waiting for condition Available=True of deployment.apps/web: 1 of 2 pods ready\n',
    exitCode: 124,
  });
  expect(await wait(testbed, 'deploy/web', '--for=condition=Complete')).toMatchObject({
    stderr: expect.stringContaining('a Deployment has no condition "Complete"\nhint: ') as string,
    exitCode: 1,
  });
});

test.each([
  [0, 'Complete', 'Failed', 'it is complete'],
  [3, 'Failed', 'Complete', 'it has failed'],
])('a Job of a sync whose pod exits with %i is %s', async (exitCode, type, other, reason) => {
  const testbed = await createTestbed();
  const syncing = testbed.run(['sync', '-'], {stdin: aJob()});
  await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
  expect(await wait(testbed, 'job/load', `--for=condition=${type}`, '--timeout=0')).toMatchObject({
    stderr: expect.stringContaining('1 of its pods active, 0 ended') as string,
    exitCode: 124,
  });
  const waiting = wait(testbed, 'job/load', `--for=condition=${type}`);
  exitRunning(testbed, exitCode);
  await syncing;
  expect(await waiting).toEqual({stdout: 'job.batch/load condition met\n', stderr: '', exitCode: 0});
  expect(await wait(testbed, 'job/load', `--for=condition=${other}`)).toEqual({
    stdout: '',
    stderr: `kcri: job.batch/load cannot reach condition ${other}=True: ${reason}\n`,
    exitCode: 1,
  });
});

test('a Job is not complete while its sync goes on, although all its pods so far have ended', async () => {
  const testbed = await createTestbed();
  const controller = new AbortController();
  const syncing = testbed.run(['sync', '-'], {
    stdin: aJob({completions: 1, backoffLimit: 3}),
    signal: controller.signal,
  });
  await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
  exitRunning(testbed, 1);
  const check = async () => (await wait(testbed, 'job/load', '--for=condition=Failed', '--timeout=0')).stderr;
  // The next pod starts 10 s later.
  await until(async () => (await check()).includes('0 of its pods active, 1 ended'));
  controller.abort(new Error('stopped'));
  await syncing;
});

test('the result of a Job of a kubelet is what the kubelet has recorded', async () => {
  const {testbed, writeManifest, run} = await startKubelet();
  await writeManifest('load.yaml', aJob({completions: 2}));
  for (const ended of [1, 2]) {
    await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    exitRunning(testbed, 0);
    if (ended === 2) break;
  }
  expect(await run(['wait', 'job/load', '--for=condition=Complete'])).toMatchObject({
    stdout: 'job.batch/load condition met\n',
    exitCode: 0,
  });
});
