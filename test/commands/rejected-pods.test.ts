import {stat} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {startKubelet} from './kubelet/kubelet-testbed.js';
import {aContainerSpec, aManifest, createTestbed, list, type CommandTestbed} from './command-testbed.js';

const TOO_BIG = aContainerSpec('main', {resources: {requests: {cpu: '1000'}}});
const BIG = aManifest({name: 'big', containers: [TOO_BIG]});
const ELSEWHERE = aManifest({name: 'elsewhere', nodeSelector: {disk: 'ssd'}});

async function run(testbed: CommandTestbed, ...args: readonly string[]) {
  return await runKcri(['--root-dir', testbed.rootDir, ...args]);
}

async function createRejectedTestbed(): Promise<CommandTestbed> {
  const testbed = await createTestbed();
  for (const stdin of [BIG, ELSEWHERE])
    expect((await testbed.run(['sync', '-'], {stdin})).stderr).toMatch(/Pod was rejected: /);
  return testbed;
}

describe('a pod that sync could not admit', () => {
  test('is listed as Failed with its reason', async () => {
    const testbed = await createRejectedTestbed();
    const {stdout} = await run(testbed, 'get', 'pods', '--no-headers');
    expect(stdout).toMatch(/^big +0\/1 +OutOfcpu +0 +\d+s\nelsewhere +0\/1 +NodeAffinity +0 +\d+s\n$/);
    const phase = await run(testbed, 'get', 'pods', 'big', '-o', 'jsonpath={.status.phase}');
    expect(phase.stdout).toBe('Failed\n');
  });

  test('is described, with its event', async () => {
    const testbed = await createRejectedTestbed();
    const {stdout} = await run(testbed, 'describe', 'elsewhere');
    expect(stdout).toMatch(
      /\nStatus: +Failed\nReason: +NodeAffinity\nMessage: +Pod was rejected: Predicate /,
    );
    expect(stdout).toMatch(/\n {2}Warning {2}NodeAffinity +\d+s +kubelet {2}Predicate NodeAffinity failed: /);
    const events = (await run(testbed, 'get', 'events')).stdout;
    expect(events).toMatch(/Warning +OutOfcpu +pod\/big +<none> +Node didn't have enough resource: cpu/);
    expect((await run(testbed, 'top', '--once')).stdout).toMatch(/^default\/big +0\/1 +OutOfcpu /m);
  });

  test('is stored readable by its owner only', async () => {
    const testbed = await createRejectedTestbed();
    const directory = join(testbed.rootDir, 'kcri/rejected');
    const [file = ''] = await list(directory);
    expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test('is listed once, and no longer when it fits or is deleted', async () => {
    const testbed = await createRejectedTestbed();
    const containers = [aContainerSpec('main', {resources: {requests: {cpu: '2000'}}})];
    await testbed.run(['sync', '-'], {stdin: aManifest({name: 'big', containers})});
    const names = async () => (await run(testbed, 'get', 'pods', '-o', 'name')).stdout;
    expect(await names()).toBe('pod/big\npod/elsewhere\n');
    expect((await testbed.run(['sync', '-'], {stdin: aManifest({name: 'big'})})).exitCode).toBe(0);
    expect((await run(testbed, 'get', 'pods', 'big', '--no-headers')).stdout).toMatch(/^big +1\/1 +Running /);
    expect((await run(testbed, 'delete', 'elsewhere')).stdout).toBe('pod "default/elsewhere" deleted\n');
    expect(await names()).toBe('pod/big\n');
    expect(await list(join(testbed.rootDir, 'kcri/rejected'))).toEqual([]);
  });

  test('is not listed after sync --rm', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', '--rm', '-'], {stdin: BIG});
    expect((await run(testbed, 'get', 'pods')).stdout).toBe('');
  });

  test('does not hide the running pod of the same name', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', '-'], {stdin: aManifest({name: 'big'})});
    await testbed.run(['sync', '-'], {
      stdin: aManifest({name: 'big', metadata: {uid: 'other'}, containers: [TOO_BIG]}),
    });
    expect((await run(testbed, 'get', 'pods', '--no-headers')).stdout).toMatch(
      /^big +1\/1 +Running [^\n]*\n$/,
    );
  });
});

describe('a pod that the kubelet rejects', () => {
  test('is listed until its manifest is mended or removed', async () => {
    const kubelet = await startKubelet();
    await kubelet.writeManifest('big.yaml', BIG);
    await kubelet.writeManifest('elsewhere.yaml', ELSEWHERE);
    const pods = async () => (await kubelet.run(['get', 'pods', '--no-headers'])).stdout;
    await expect
      .poll(pods)
      .toMatch(/^big-n1 +0\/1 +UnexpectedAdmissionError .*\nelsewhere-n1 +0\/1 +NodeAffinity .*\n$/);
    expect((await kubelet.run(['describe', 'big-n1'])).stdout).toMatch(
      /\nReason: +UnexpectedAdmissionError\n/,
    );
    const {stderr, exitCode} = await kubelet.run(['delete', 'big-n1']);
    expect(stderr).toMatch(/big-n1": kcri kubelet \(PID \d+\) manages it/);
    expect(exitCode).toBe(1);
    await kubelet.removeManifest('elsewhere.yaml');
    await kubelet.writeManifest('big.yaml', aManifest({name: 'big'}));
    await expect.poll(pods).toMatch(/^big-n1 +1\/1 +Running [^\n]*\n$/);
    expect(await list(join(kubelet.testbed.rootDir, 'kcri/rejected'))).toEqual([]);
  });
});
