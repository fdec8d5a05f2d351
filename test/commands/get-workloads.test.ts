import {describe, expect, test} from 'vitest';
import {findCommand} from '../../src/cli/catalog/find-command.js';
import {parseWorkloadKind} from '../../src/api/workloads/workload-of-pod.js';
import {aContainerSpec, createTestbed, type CommandTestbed} from './command-testbed.js';

const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {name: 'web', namespace: 'default'},
  spec: {
    replicas: 2,
    selector: {matchLabels: {app: 'web'}},
    template: {
      metadata: {labels: {app: 'web'}},
      spec: {containers: [aContainerSpec('main')], terminationGracePeriodSeconds: 2},
    },
  },
};

async function synced(): Promise<CommandTestbed> {
  const testbed = await createTestbed();
  const {exitCode} = await testbed.run(['sync', '-'], {stdin: JSON.stringify(DEPLOYMENT)});
  expect(exitCode).toBe(0);
  return testbed;
}

/** Runs `get`, which has no directory of logs. */
async function get({runtime, rootDir}: CommandTestbed, ...args: readonly string[]) {
  const {runKcri} = await import('../cli/run-kcri.js');
  return await runKcri(['--root-dir', rootDir, 'get', ...args], {endpoint: runtime.endpoint});
}

describe('get', () => {
  // Proves: get all, get all --output, get workloads, get workloads --output, get workloads --all-namespaces, get workloads --no-headers
  test.each([
    ['deployments', /^NAME +READY +SUCCEEDED +FAILED +AGE\nweb +2\/2 +0 +0 +\d+s\n$/],
    ['deploy web', /\nweb +2\/2 /],
    ['deployment/web', /\ndeployment\.apps\/web +2\/2 /],
    ['workloads', /\ndeployment\.apps\/web +2\/2 .*\nreplicaset\.apps\/web-\S+ +2\/2 /],
    ['deployments -o wide', / +IMAGES\nweb .* localhost:5000\/busybox\S*\n$/],
    ['deployments -o name', /^deployment\.apps\/web\n$/],
    ['deployments -A --no-headers', /^default +web +2\/2 /],
    [
      'all',
      /^NAME +READY +STATUS .*\npod\/web-.*\npod\/web-.*\n\nNAME +READY .*\ndeployment\.apps\/web +2\/2/,
    ],
    ['all -o name', /^pod\/web-\S+\npod\/web-\S+\ndeployment\.apps\/web\nreplicaset\.apps\/web-\S+\n$/],
  ])('%s', async (line, expected) => {
    const testbed = await synced();
    const {stdout, stderr, exitCode} = await get(testbed, ...line.split(' '));
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(expected);
  });

  // Proves: get all --namespace, get all --selector, get all --manager, get workloads --namespace, get workloads --selector, get workloads --manager
  test.each([['all'], ['workloads']])('%s selects by namespace, label and manager', async (word) => {
    const testbed = await synced();
    for (const flags of [['-n', 'test'], ['-l', 'app=none'], ['--manager=none']])
      expect(await get(testbed, word, ...flags)).toMatchObject({stdout: '', stderr: 'No resources found\n'});
  });

  // Proves: get workloads --exit-code, get workloads --template, get all --template, get all --all-namespaces, get all --no-headers
  test('the other flags of lists are those of get pods', async () => {
    const testbed = await synced();
    expect(await get(testbed, 'jobs', '--exit-code')).toMatchObject({stdout: '', exitCode: 2});
    expect((await get(testbed, 'all', '-A', '--no-headers')).stdout).toMatch(/^default +pod\/web-/);
    const template = '{{range .items}}{{.kind}} {{end}}';
    for (const [word, expected] of [
      ['deployments', /^Deployment /],
      ['all', /^Pod Pod Deployment ReplicaSet /],
    ] as const)
      expect((await get(testbed, word, '-o', 'go-template', `--template=${template}`)).stdout).toMatch(
        expected,
      );
  });

  test('deployment/web -o json is one object', async () => {
    const testbed = await synced();
    const {stdout} = await get(testbed, 'deployment/web', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: {name: 'web', namespace: 'default'},
      status: {replicas: 2, readyReplicas: 2},
    });
  });

  // Proves: get pods --show-labels
  test('pod/NAME shows that pod, with its labels on request', async () => {
    const testbed = await synced();
    const names = (await get(testbed, 'pods', '-o', 'name')).stdout.trim().split('\n');
    expect((await get(testbed, names[0]!, '-o', 'name')).stdout).toBe(`${names[0]}\n`);
    expect((await get(testbed, ...names, '-o', 'name')).stdout).toBe(`${names.join('\n')}\n`);
    const {stdout} = await get(testbed, names[0]!, '--show-labels');
    expect(stdout).toMatch(/ +LABELS\n.* app=web,pod-template-hash=[a-z0-9]+\n$/);
  });

  test.each([
    [['jobs'], '', 'No resources found\n', 0],
    [['job/main'], '', 'kcri: "job/main" has no pods here\nhint: run "kcri get pods" to list pods\n', 1],
    [
      ['workloads', 'web'],
      '',
      'kcri: "web" is not a workload\nhint: use KIND/NAME, such as deployment/web, or',
      1,
    ],
  ] as const)('%j without a match', async (args, stdout, stderr, exitCode) => {
    const testbed = await synced();
    const result = await get(testbed, ...args);
    expect(result).toMatchObject({stdout, exitCode});
    expect(result.stderr).toContain(stderr);
  });
});

test('get accepts the words for all kinds of workloads', () => {
  const words = [
    'cronjob',
    'cj',
    'ds',
    'daemonsets',
    'deploy',
    'jobs',
    'rs',
    'replicasets',
    'rc',
    'sts',
    'statefulset',
  ];
  for (const word of words) {
    expect(parseWorkloadKind(word)).toBeDefined();
    expect(findCommand(['get', word, '-A'])).toMatchObject({words: ['get', 'workloads'], argv: [word, '-A']});
    expect(findCommand(['get', `${word}.apps/x`])).toMatchObject({argv: [`${word}.apps/x`]});
  }
  expect(findCommand(['get', 'pod/web', '-w'])).toMatchObject({
    words: ['get', 'pods'],
    argv: ['pod/web', '-w'],
  });
  expect(findCommand(['get', 'podinfo/web'])).toBeUndefined();
});
