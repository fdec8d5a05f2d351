import {existsSync, readdirSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed, type RunningPodState} from '../harness/pod-testbed.js';
import {startCiScript} from '../harness/run-ci-script.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

/** Returns a pod with two init containers, the second of which takes `seconds`. */
const slow = (name: string, seconds = 3600): string =>
  aManifest(name, {
    initContainers: [
      aContainer('first', {command: ['true']}),
      aContainer('second', {command: shellCommand(`trap "exit 0" TERM; sleep ${seconds} & wait`)}),
    ],
    containers: [aContainer('one'), aContainer('two')],
  });

/**
 * Returns a larger pod with a sidecar, three containers and volumes of several kinds, and the objects that they refer
 * to. Its second container has started when the file `go` is in the directory.
 */
const whole = (name: string, directory: string): string => {
  const mounts = [
    {name: 'memory', mountPath: '/memory'},
    {name: 'scratch', mountPath: '/part', subPath: 'a/b'},
    {name: 'config', mountPath: '/key', subPath: 'key'},
    {name: 'host', mountPath: '/host', readOnly: true},
    {name: 'gate', mountPath: '/gate'},
  ];
  const gate = shellCommand('until test -f /gate/go; do sleep 0.1; done');
  const pod = aManifest(name, {
    initContainers: [
      aContainer('first', {command: ['true']}),
      aContainer('second', {command: shellCommand('sleep 1')}),
      aContainer('side', {restartPolicy: 'Always'}),
    ],
    containers: [
      aContainer('one', {volumeMounts: mounts}),
      aContainer('two', {volumeMounts: mounts, lifecycle: {postStart: {exec: {command: gate}}}}),
      aContainer('three', {volumeMounts: mounts}),
    ],
    volumes: [
      {name: 'memory', emptyDir: {medium: 'Memory'}},
      {name: 'scratch', emptyDir: {}},
      {name: 'config', configMap: {name: 'settings'}},
      {name: 'host', hostPath: {path: '/etc/hostname', type: 'File'}},
      {name: 'gate', hostPath: {path: directory}},
    ],
  });
  const config = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'settings'}, data: {key: 'value'}};
  return `${JSON.stringify(config)}\n---\n${pod}`;
};

const filesIn = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);

const recordsOf = ({runtime}: PodTestbed): readonly string[] =>
  filesIn(join(runtime.rootDir, 'kcri/records'));

const lockHeld = ({runtime}: PodTestbed, name: string): boolean =>
  filesIn(join(runtime.rootDir, 'kcri/locks')).includes(`default_${name}.lock`);

describe.each(newestRuntime)('an interrupted sync: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  async function deleteWithoutTrace(name: string): Promise<void> {
    const {uid} = await testbed.pod(name);
    expect(await testbed.delete(name)).toMatchObject({exitCode: 0, stderr: ''});
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  }

  const runningNames = ({containers}: RunningPodState): readonly string[] =>
    containers
      .filter(({state}) => state === 'CONTAINER_RUNNING')
      .map(({metadata}) => `${metadata?.name}`)
      .sort();

  test('Ctrl-C leaves running containers and prints how to delete them', async () => {
    const sync = testbed.startSync(slow('left'));
    await sync.waitForOutput(/container second started/);
    sync.kill('SIGINT');
    const {stdout, stderr, exitCode} = await sync.exited;
    expect({exitCode, stdout}).toMatchObject({exitCode: 130});
    expect(stderr).toContain('run "kcri delete default/left" to delete it');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(runningNames(await testbed.pod('left'))).toEqual(['second']);
    await deleteWithoutTrace('left');
  });

  test('Ctrl-C with --rm deletes the pod', async () => {
    const sync = testbed.startSync(slow('gone'), ['--rm']);
    await sync.waitForOutput(/container second started/);
    const {uid} = await testbed.pod('gone');
    sync.kill('SIGINT');
    expect(await sync.exited).toMatchObject({exitCode: 130});
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });

  test('a second Ctrl-C ends a deletion immediately, and the rest can be deleted later', async () => {
    const manifest = aManifest('stubborn', {
      terminationGracePeriodSeconds: 30,
      containers: [aContainer('main', {command: ['sleep', '3600']})],
    });
    const sync = testbed.startSync(manifest, ['--wait', 'complete', '--rm']);
    await sync.waitForOutput(/container main running/);
    sync.kill('SIGINT');
    await sync.waitForOutput(/default\/stubborn: is being deleted/);
    sync.kill('SIGINT');
    expect(await sync.exited).toMatchObject({exitCode: 130});
    expect(await testbed.delete('stubborn', '--grace-period', '0')).toMatchObject({exitCode: 0});
  });

  test.each([
    ['before its sandbox', /^/],
    ['after its sandbox', /sandbox \w+ created/],
    ['in its second init container', /container second started/],
    ['after its sidecar', /container side started/],
    ['between its containers', /container one started/],
  ])('after a sync is killed %s the next sync continues', async (_, moment) => {
    const directory = await temporaryDirectory();
    const manifest = whole('killed', directory);
    const sync = testbed.startSync(manifest);
    onTestFinished(async () => {
      sync.kill('SIGKILL');
      await sync.exited;
      await testbed.delete('killed');
    });
    if (moment.source === '^') await until(() => recordsOf(testbed).length > 0);
    else await sync.waitForOutput(moment);
    sync.kill('SIGKILL');
    expect(await sync.exited).toMatchObject({exitCode: undefined});
    await writeFile(join(directory, 'go'), '');

    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0, stderr: ''});
    const pod = await testbed.pod('killed');
    expect(pod.sandboxes).toHaveLength(1);
    expect(runningNames(pod)).toEqual(['one', 'side', 'three', 'two']);
    await deleteWithoutTrace('killed');
  });

  test('after a delete is killed the next one completes it', async () => {
    const command = ['sleep', '3600'];
    const containers = [aContainer('main', {command})];
    const manifest = aManifest('twice', {terminationGracePeriodSeconds: 3600, containers});
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    const {uid} = await testbed.pod('twice');
    const deletion = testbed.runtime.start(['delete', 'twice']);
    await until(() => lockHeld(testbed, 'twice'));
    deletion.kill('SIGKILL');
    await deletion.exited;
    expect(await testbed.delete('twice', '--grace-period', '0')).toMatchObject({exitCode: 0, stderr: ''});
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });

  test('two concurrent syncs of one pod create one pod, and both succeed', async () => {
    const manifest = slow('double', 1);
    const both = await Promise.all([testbed.sync(manifest), testbed.sync(manifest)]);
    expect(both.map(({exitCode}) => exitCode)).toEqual([0, 0]);
    const pod = await testbed.pod('double');
    expect(pod.sandboxes).toHaveLength(1);
    expect(pod.containers.map(({metadata}) => `${metadata?.name}/${metadata?.attempt}`).sort()).toEqual([
      'first/0',
      'one/0',
      'second/0',
      'two/0',
    ]);
    await deleteWithoutTrace('double');
  });

  test('a concurrent sync and delete leave either a complete pod or nothing', async () => {
    const manifest = slow('race');
    const sync = testbed.startSync(manifest);
    await sync.waitForOutput(/container first started/);
    const {uid} = await testbed.pod('race');
    expect(await testbed.delete('race')).toMatchObject({exitCode: 0});
    const {exitCode, stderr} = await sync.exited;
    expect({exitCode, stderr}).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('deleted') as string,
    });
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });

  describe('examples/ci.sh', () => {
    const aJob = (name: string, script: string): string =>
      aManifest(name, {
        restartPolicy: 'Never',
        containers: [aContainer('main', {command: shellCommand(script)})],
      });

    test.each([
      [0, 'echo fine', 'job passed', '<system-out>fine</system-out>'],
      [
        5,
        'echo wrong; exit 5',
        'job failed with exit code 5',
        'exited with code 5 (Error)\n\nwrong</failure>',
      ],
    ])('exits with the code %i of the container', async (code, script, message, xml) => {
      const run = await startCiScript(testbed, aJob('ci', script));
      expect(await run.exited).toBe(code);
      expect(run.output()).toContain(message);
      expect(await run.readJunit()).toContain(xml);
      expect(await testbed.find('ci')).toBeUndefined();
    });

    test('deletes the pod when it is cancelled, and prints its last output', async () => {
      const run = await startCiScript(
        testbed,
        aJob('ci', 'trap "echo last words; exit 1" TERM; echo started; sleep 3600 & wait'),
      );
      await until(() => run.output().includes('| started'));
      run.child.kill('SIGTERM');
      expect(await run.exited).toBe(143);
      expect(run.output()).toContain('default/ci/main | last words\n');
      expect(run.output()).toContain('job was cancelled');
      expect(await testbed.find('ci')).toBeUndefined();
      expect(recordsOf(testbed)).toEqual([]);
    });

    test('ends at its time limit', async () => {
      const run = await startCiScript(testbed, aJob('ci', 'exec sleep 3600'), {TIME_LIMIT: '2s'});
      expect(await run.exited).toBe(124);
      expect(await run.readJunit()).toContain('type="Timeout"');
      expect(await testbed.find('ci')).toBeUndefined();
    });
  });
});
