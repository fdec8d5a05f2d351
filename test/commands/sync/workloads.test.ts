import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runKcri} from '../../cli/run-kcri.js';
import {
  aContainerSpec,
  aScript,
  createTestbed,
  expectUserError,
  type CommandTestbed,
} from '../command-testbed.js';

/** Returns the manifest of a Deployment `web`. */
function aDeployment(replicas: number, fields: object = {}): string {
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {name: 'web'},
    spec: {
      replicas,
      selector: {matchLabels: {app: 'web'}},
      template: {
        metadata: {labels: {app: 'web'}},
        spec: {containers: [aContainerSpec('main', fields)], terminationGracePeriodSeconds: 1},
      },
    },
  });
}

function podNames({runtime}: CommandTestbed): readonly string[] {
  return runtime.sandboxes.map(({config}) => config.metadata!.name).toSorted();
}

describe('sync of a Deployment', () => {
  // Proves: sync --replicas
  test('runs its replicas, and changes nothing if it is unchanged', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aDeployment(2));
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0, stderr: ''});
    const names = podNames(testbed);
    expect(names).toHaveLength(2);
    testbed.runtime.clearCalls();
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0, stderr: ''});
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.run(['sync', file, '--replicas=1'])).toMatchObject({exitCode: 0});
    expect(podNames(testbed)).toEqual([expect.stringMatching(/^web-[a-z0-9]+-[a-z0-9]{5}$/)]);
    expect(names).toEqual(expect.arrayContaining([...podNames(testbed)]));
  });

  test('starts the pods of a changed template before it deletes the others', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('web.json', aDeployment(1))]);
    const before = podNames(testbed);
    testbed.runtime.clearCalls();
    const changed = await testbed.write('web.json', aDeployment(1, {command: ['sleep', '60']}));
    expect(await testbed.run(['sync', changed])).toMatchObject({exitCode: 0});
    expect(podNames(testbed)).toHaveLength(1);
    expect(podNames(testbed)).not.toEqual(before);
    const calls = testbed.mutatingCalls;
    expect(calls.indexOf('StartContainer')).toBeLessThan(calls.indexOf('StopContainer'));
  });

  test('keeps the previous pods if the new ones cannot be started', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('web.json', aDeployment(1))]);
    const before = podNames(testbed);
    const broken = await testbed.write('web.json', aDeployment(1, {image: 'localhost:5000/missing:1'}));
    expect(await testbed.run(['sync', broken])).toMatchObject({exitCode: 1});
    expect(podNames(testbed)).toEqual(before);
  });
});

test('get pods selects the pods of a workload by label', async () => {
  const testbed = await createTestbed();
  await testbed.run(['sync', await testbed.write('web.json', aDeployment(2))]);
  const {stdout, stderr} = await runKcri([
    ...['--root-dir', testbed.rootDir],
    ...['get', 'pods', '--selector=app=web', '--no-headers'],
  ]);
  expect(stderr).toBe('');
  expect(stdout.trimEnd().split('\n')).toHaveLength(2);
});

describe('delete removes the pods of a workload', () => {
  test.each([['deployment/web'], ['deploy/web'], ['FILE']])('named as %s', async (word) => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aDeployment(2));
    await testbed.run(['sync', file]);
    // The pods of another template belong to the Deployment too.
    await testbed.write('web.json', aDeployment(1, {command: ['sleep', '60']}));
    const {stdout, exitCode} = await testbed.run(['delete', word === 'FILE' ? file : word]);
    expect(exitCode).toBe(0);
    expect(stdout.match(/^pod "default\/web-.*" deleted$/gm)).toHaveLength(2);
    expect(testbed.runtime.sandboxes).toEqual([]);
  });

  test('but not those of another kind or name', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('web.json', aDeployment(1))]);
    for (const word of ['job/web', 'deployment/other']) expectUserError(await testbed.run(['delete', word]));
    expect(testbed.runtime.sandboxes).toHaveLength(1);
  });
});

describe('the claims of a StatefulSet', () => {
  const SET = JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {name: 'db'},
    spec: {
      replicas: 2,
      serviceName: 'db',
      selector: {matchLabels: {app: 'db'}},
      volumeClaimTemplates: [
        {
          metadata: {name: 'data'},
          spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}},
        },
      ],
      template: {
        metadata: {labels: {app: 'db'}},
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [aContainerSpec('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
        },
      },
    },
  });

  async function claims({rootDir}: CommandTestbed): Promise<readonly string[]> {
    return await readdir(join(rootDir, 'claims', 'default')).catch(() => []);
  }

  // Proves: delete --volumes
  test('are directories that survive the pods unless --volumes is given', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('db.json', SET);
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0, stderr: ''});
    expect(podNames(testbed)).toEqual(['db-0', 'db-1']);
    const path = join(testbed.rootDir, 'claims', 'default', 'data-db-1');
    const mounts = testbed.runtime.containers.flatMap(({config}) => config.mounts);
    expect(mounts).toContainEqual(expect.objectContaining({containerPath: '/data', hostPath: path}));
    await testbed.run(['delete', file]);
    expect(await claims(testbed)).toEqual(['data-db-0', 'data-db-1']);
    await testbed.run(['sync', file]);
    const {stdout} = await testbed.run(['delete', 'db-0', '--volumes']);
    expect(stdout).toContain('persistentvolumeclaim "default/data-db-0" deleted');
    expect(await claims(testbed)).toEqual(['data-db-1']);
    await testbed.run(['delete', 'sts/db', '--volumes']);
    expect(await claims(testbed)).toEqual([]);
  });
});

// Proves: sync --strict
test('an object of a kind without effect is skipped, or rejected by --strict', async () => {
  const testbed = await createTestbed();
  const ingress = {apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: {name: 'front'}};
  const file = await testbed.write('web.json', `${JSON.stringify(ingress)}\n---\n${aDeployment(1)}`);
  const {stderr, exitCode} = await testbed.run(['sync', file]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain('skipping Ingress "front": objects of this kind have no effect here');
  const strict = await testbed.run(['sync', file, '--strict']);
  expectUserError(strict);
  expect(strict.stderr).toContain('Unsupported value: "Ingress"');
});

/** Returns the manifest of a Job `once` whose container runs a script. */
function aJob(script: string, spec: object = {}): string {
  return JSON.stringify({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name: 'once'},
    spec: {
      ...spec,
      template: {
        spec: {
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 1,
          containers: [aScript('main', script)],
        },
      },
    },
  });
}

describe('sync of a Job', () => {
  test('runs all its completions, and none again', async () => {
    const testbed = await createTestbed();
    const spec = {completions: 3, parallelism: 2, completionMode: 'Indexed'};
    const file = await testbed.write('job.json', aJob('true', spec));
    expect(await testbed.run(['sync', file, '--wait=complete'])).toMatchObject({exitCode: 0});
    expect(podNames(testbed).map((name) => name.slice(0, 'once-0'.length))).toEqual([
      'once-0',
      'once-1',
      'once-2',
    ]);
    testbed.runtime.clearCalls();
    expect(await testbed.run(['sync', file, '--wait=complete'])).toMatchObject({exitCode: 0});
    expect(testbed.mutatingCalls).toEqual([]);
  });

  test('exits with the code of the container when the Job has failed', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('job.json', aJob('exit 3', {backoffLimit: 0}));
    const {stderr, exitCode} = await testbed.run(['sync', file, '--wait=complete', '--rm']);
    expect(exitCode).toBe(3);
    expect(stderr).toContain(
      'Job default/once has failed: BackoffLimitExceeded: Job has reached the specified backoff limit',
    );
    expect(podNames(testbed)).toEqual([]);
  });

  test('has all attempts of the Job in JUnit XML', async () => {
    const testbed = await createTestbed();
    const spec = {completions: 2, parallelism: 2, backoffLimit: 0};
    const file = await testbed.write('job.json', aJob('exit 3', spec));
    const junit = join(testbed.directory, 'results.xml');
    await testbed.run(['sync', file, '--wait=complete', '--junit', junit]);
    const xml = await readFile(junit, 'utf8');
    expect(xml.match(/<testsuite /g)).toHaveLength(2);
    expect(xml.match(/<failure /g)).toHaveLength(1);
  });

  test('stops its pods after activeDeadlineSeconds', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('job.json', aJob('sleep 3600', {activeDeadlineSeconds: 1}));
    const {stderr, exitCode} = await testbed.run(['sync', file, '--wait=complete']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('DeadlineExceeded: Job was active longer than specified deadline');
    expect(podNames(testbed)).toEqual([]);
  });
});

test('a CronJob runs once, with a note', async () => {
  const testbed = await createTestbed();
  const {spec} = JSON.parse(aJob('true')) as {spec: object};
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {name: 'nightly'},
    spec: {schedule: '0 3 * * *', jobTemplate: {spec}},
  };
  const file = await testbed.write('cron.json', JSON.stringify(cronJob));
  const {stderr, exitCode} = await testbed.run(['sync', file, '--wait=complete']);
  expect(exitCode).toBe(0);
  expect(stderr).toContain('CronJob "nightly" runs once; its schedule has no effect here');
  expect(podNames(testbed)).toEqual([expect.stringMatching(/^nightly-manual-/)]);
  expect(await testbed.run(['delete', 'cronjob/nightly'])).toMatchObject({exitCode: 0});
  expect(podNames(testbed)).toEqual([]);
});

test('the workloads of pods complete the arguments of commands that take them', async () => {
  const testbed = await createTestbed();
  await testbed.run(['sync', await testbed.write('web.json', aDeployment(2))]);
  const {endpoint} = testbed.runtime;
  for (const command of ['delete', 'exec', 'logs', 'describe', 'port-forward', 'wait', 'restart']) {
    const words = ['completion', '--suggest', '--', command, 'deployment/'];
    const {stdout} = await runKcri(['--root-dir', testbed.rootDir, ...words], {endpoint});
    expect({command, stdout}).toEqual({command, stdout: 'deployment/web\tDeployment in default\n'});
  }
});
