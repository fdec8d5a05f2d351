import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {aContainer, aManifest, IMAGE, shellCommand, SLEEP_COMMAND} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const DEPLOYMENT = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {name: 'web'},
  spec: {
    replicas: 2,
    selector: {matchLabels: {app: 'web'}},
    template: {
      metadata: {labels: {app: 'web'}},
      spec: {
        terminationGracePeriodSeconds: 2,
        containers: [aContainer('main', {command: shellCommand(`hostname; ${SLEEP_COMMAND[2]!}`)})],
      },
    },
  },
});

describe.each(newestRuntime)('workloads and selectors as targets: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const kcri = async (...args: readonly string[]) => await testbed.runtime.kcri(args);
  const podNames = async (...args: readonly string[]): Promise<readonly string[]> => {
    const {stdout} = await kcri('get', 'pods', '-o', 'name', ...args);
    return stdout.split('\n').filter((line) => line !== '');
  };

  test('a Deployment is found by its name and labels, and delete deletes its pods', async () => {
    expect(await testbed.sync(DEPLOYMENT)).toMatchObject({exitCode: 0});
    const pods = await podNames('deployment/web');
    expect(pods).toHaveLength(2);
    expect((await kcri('get', 'deployments', '--no-headers')).stdout).toMatch(/^web +2\/2 +0 +0 /);

    const host = await kcri('exec', 'deployment/web', '--', 'hostname');
    expect(host).toMatchObject({
      stderr: `Found 2 pods, using pod/${host.stdout.trim()}\n`,
      exitCode: 0,
    });
    expect(pods).toContain(`pod/${host.stdout.trim()}`);
    const everywhere = await kcri('exec', '-q', '--selector=app=web', 'hostname');
    expect(
      everywhere.stdout
        .trim()
        .split('\n')
        .map((name) => `pod/${name}`)
        .toSorted(),
    ).toEqual(pods);

    const logs = await kcri('logs', '-l', 'app=web', '--no-prefix');
    expect(
      logs.stdout
        .trim()
        .split('\n')
        .map((name) => `pod/${name}`)
        .toSorted(),
    ).toEqual(pods);
    expect(await kcri('wait', 'deploy/web', '--for=condition=Ready')).toMatchObject({exitCode: 0});

    const {stdout, exitCode} = await kcri('delete', '-l', 'app=web');
    expect(stdout.trim().split('\n')).toHaveLength(2);
    expect(exitCode).toBe(0);
    expect(await podNames()).toEqual([]);
  });

  test('delete removes what exists, also a pod of kcri run with its log, and reports the rest', async () => {
    expect(await testbed.sync(aManifest('single'))).toMatchObject({exitCode: 0});
    expect(await kcri('run', '-d', '--name=ofrun', IMAGE, 'sleep', '3600')).toMatchObject({exitCode: 0});
    const {stdout, stderr, exitCode} = await kcri('delete', 'single', 'nope', 'ofrun', '--grace-period=1');
    expect(stdout).toBe('pod "default/single" deleted\npod "default/ofrun" deleted\n');
    expect(stderr).toContain('kcri: pod "nope" not found\n');
    expect(exitCode).toBe(1);
    expect(await podNames()).toEqual([]);
  });

  test('sync --prune deletes the pods with the labels that are no longer in the manifests', async () => {
    const labeled = (name: string): string => aManifest(name, {}, {labels: {set: 'pruned'}});
    await testbed.sync([labeled('one'), labeled('two'), aManifest('kept')].join('\n---\n'));
    const {exitCode} = await testbed.sync(labeled('one'), ['--prune', '-l', 'set=pruned']);
    expect(exitCode).toBe(0);
    expect(await podNames()).toEqual(['pod/kept', 'pod/one']);
    expect(await kcri('delete', '--all')).toMatchObject({exitCode: 0});
    expect(await podNames()).toEqual([]);
  });
});
