import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed, type RunningPodState} from '../harness/pod-testbed.js';
import {runtimes} from '../harness/runtimes-under-test.js';

/** A pod with two steps before its two containers, the second of which takes its time. */
const slow = (name: string, seconds = 3600): string =>
  aManifest(name, {
    initContainers: [
      aContainer('first', {command: ['true']}),
      aContainer('second', {command: shellCommand(`trap "exit 0" TERM; sleep ${seconds} & wait`)}),
    ],
    containers: [aContainer('one'), aContainer('two')],
  });

/** The same with a sidecar, a third container and volumes of several kinds, and what they refer to. */
const whole = (name: string): string => {
  const mounts = [
    {name: 'memory', mountPath: '/memory'},
    {name: 'scratch', mountPath: '/part', subPath: 'a/b'},
    {name: 'config', mountPath: '/key', subPath: 'key'},
    {name: 'host', mountPath: '/host', readOnly: true},
  ];
  const pod = aManifest(name, {
    initContainers: [
      aContainer('first', {command: ['true']}),
      aContainer('second', {command: shellCommand('sleep 1')}),
      aContainer('side', {restartPolicy: 'Always'}),
    ],
    containers: ['one', 'two', 'three'].map((each) => aContainer(each, {volumeMounts: mounts})),
    volumes: [
      {name: 'memory', emptyDir: {medium: 'Memory'}},
      {name: 'scratch', emptyDir: {}},
      {name: 'config', configMap: {name: 'settings'}},
      {name: 'host', hostPath: {path: '/etc/hostname', type: 'File'}},
    ],
  });
  const config = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'settings'}, data: {key: 'value'}};
  return `${JSON.stringify(config)}\n---\n${pod}`;
};

const filesIn = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);

const recordsOf = ({runtime}: PodTestbed): readonly string[] => filesIn(join(runtime.rootDir, 'records'));

const lockHeld = ({runtime}: PodTestbed, name: string): boolean =>
  filesIn(join(runtime.rootDir, 'locks')).includes(`default_${name}.lock`);

describe.each(runtimes)('an interrupted sync: $name', (which) => {
  let ground: PodTestbed;
  beforeAll(async () => {
    ground = await startPodTestbed(which);
  });
  afterAll(() => ground[Symbol.asyncDispose]());

  async function deleteWithoutTrace(name: string): Promise<void> {
    const {uid} = await ground.pod(name);
    expect(await ground.delete(name)).toMatchObject({exitCode: 0, stderr: ''});
    expect(await ground.listLeftovers(uid)).toEqual([]);
  }

  const runningNames = ({containers}: RunningPodState): readonly string[] =>
    containers
      .filter(({state}) => state === 'CONTAINER_RUNNING')
      .map(({metadata}) => `${metadata?.name}`)
      .sort();

  test('Ctrl-C leaves running containers and prints how to delete them', async () => {
    const sync = ground.startSync(slow('left'));
    await sync.waitForOutput(/container second started/);
    sync.kill('SIGINT');
    const {stdout, stderr, exitCode} = await sync.exited;
    expect({exitCode, stdout}).toMatchObject({exitCode: 130});
    expect(stderr).toContain('run "kcri delete default/left" to delete it');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(runningNames(await ground.pod('left'))).toEqual(['second']);
    await deleteWithoutTrace('left');
  });

  test('Ctrl-C with --rm deletes the pod', async () => {
    const sync = ground.startSync(slow('gone'), ['--rm']);
    await sync.waitForOutput(/container second started/);
    const {uid} = await ground.pod('gone');
    sync.kill('SIGINT');
    expect(await sync.exited).toMatchObject({exitCode: 130});
    expect(await ground.listLeftovers(uid)).toEqual([]);
  });

  test('a second Ctrl-C ends a deletion immediately, and the rest can be deleted later', async () => {
    const manifest = aManifest('stubborn', {
      terminationGracePeriodSeconds: 30,
      containers: [aContainer('main', {command: ['sleep', '3600']})],
    });
    const sync = ground.startSync(manifest, ['--wait', 'complete', '--rm']);
    await sync.waitForOutput(/container main running/);
    sync.kill('SIGINT');
    await sync.waitForOutput(/default\/stubborn: is being deleted/);
    sync.kill('SIGINT');
    expect(await sync.exited).toMatchObject({exitCode: 130});
    expect(await ground.delete('stubborn', '--grace-period', '0')).toMatchObject({exitCode: 0});
  });

  test.each([
    ['before its sandbox', /^/],
    ['after its sandbox', /sandbox \w+ created/],
    ['in its second init container', /container second started/],
    ['after its sidecar', /container side started/],
    ['between its containers', /container one started/],
  ])('after a sync is killed %s the next sync continues', async (_, moment) => {
    const manifest = whole('killed');
    const sync = ground.startSync(manifest);
    if (moment.source === '^') await until(() => recordsOf(ground).length > 0);
    else await sync.waitForOutput(moment);
    sync.kill('SIGKILL');
    expect(await sync.exited).toMatchObject({exitCode: undefined});

    expect(await ground.sync(manifest)).toMatchObject({exitCode: 0, stderr: ''});
    const pod = await ground.pod('killed');
    expect(pod.sandboxes).toHaveLength(1);
    expect(runningNames(pod)).toEqual(['one', 'side', 'three', 'two']);
    await deleteWithoutTrace('killed');
  });

  test('after a delete is killed the next one completes it', async () => {
    const command = ['sleep', '3600'];
    const manifest = aManifest('twice', {containers: [aContainer('main', {command})]});
    expect(await ground.sync(manifest)).toMatchObject({exitCode: 0});
    const {uid} = await ground.pod('twice');
    const deletion = ground.runtime.start(['delete', 'twice']);
    await until(() => lockHeld(ground, 'twice'));
    deletion.kill('SIGKILL');
    await deletion.exited;
    expect(await ground.delete('twice')).toMatchObject({exitCode: 0, stderr: ''});
    expect(await ground.listLeftovers(uid)).toEqual([]);
  });

  test('two concurrent syncs of one pod create one pod, and both succeed', async () => {
    const manifest = slow('double', 1);
    const both = await Promise.all([ground.sync(manifest), ground.sync(manifest)]);
    expect(both.map(({exitCode}) => exitCode)).toEqual([0, 0]);
    const pod = await ground.pod('double');
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
    const sync = ground.startSync(manifest);
    await sync.waitForOutput(/container first started/);
    const {uid} = await ground.pod('race');
    expect(await ground.delete('race')).toMatchObject({exitCode: 0});
    const {exitCode, stderr} = await sync.exited;
    expect({exitCode, stderr}).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('deleted') as string,
    });
    expect(await ground.listLeftovers(uid)).toEqual([]);
  });
});
