import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {until} from '../base/until.js';
import {aContainer, anImage, aSandbox} from '../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  expectUserError,
  type CommandTestbed,
} from './command-testbed.js';

async function syncPods(testbed: CommandTestbed, ...manifests: readonly string[]): Promise<void> {
  const {exitCode} = await testbed.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect(exitCode).toBe(0);
  testbed.runtime.clearCalls();
}

describe('delete by labels', () => {
  async function syncLabeled(testbed: CommandTestbed): Promise<void> {
    const labeled = (name: string, app: string, namespace = 'default') =>
      aManifest({name, metadata: {labels: {app}, namespace}});
    await syncPods(testbed, labeled('a', 'web'), labeled('b', 'web', 'test'), labeled('c', 'db'));
  }

  // Proves: delete --selector, delete --all
  test.each([
    ['-l deletes the pods that match', ['-l', 'app=web'], ['default/a', 'test/b']],
    ['-l and -n delete those of a namespace', ['-l', 'app=web', '-n', 'test'], ['test/b']],
    ['--all deletes all', ['--all'], ['default/a', 'default/c', 'test/b']],
    ['--all and -n delete those of a namespace', ['--all', '-n', 'default'], ['default/a', 'default/c']],
  ])('%s', async (_, flags, deleted) => {
    const testbed = await createTestbed({images: [anImage()], sandboxes: [aSandbox({name: 'foreign'})]});
    await syncLabeled(testbed);
    const {stdout, exitCode} = await testbed.run(['delete', ...flags]);
    expect(stdout.split('\n').filter(Boolean).toSorted()).toEqual(
      deleted.map((pod) => `pod "${pod}" deleted`),
    );
    expect(exitCode).toBe(0);
    expect(await testbed.records()).toHaveLength(3 - deleted.length);
    expect(testbed.runtime.sandboxes.some(({config}) => config.metadata?.name === 'foreign')).toBe(true);
  });

  test('without a match is not an error', async () => {
    const testbed = await createTestbed();
    expect(await testbed.run(['delete', '-l', 'app=none'])).toEqual({
      stdout: '',
      stderr: 'No resources found\n',
      exitCode: 0,
    });
  });

  test.each([
    ['an empty selector', ['-l', ''], '--selector must not be empty'],
    ['an invalid selector', ['-l', 'a b'], 'invalid label selector "a b"'],
    ['names and a selector', ['web', '-l', 'app=web'], 'cannot use names together with --selector'],
    ['files and --all', ['-f', 'web.yaml', '--all'], 'cannot use names together with --all'],
    ['a selector and --all', ['-l', 'app=web', '--all'], '--selector and --all are mutually exclusive'],
  ])('rejects %s', async (_, flags, text) => {
    const testbed = await createTestbed();
    await syncLabeled(testbed);
    const result = await testbed.run(['delete', ...flags]);
    expectUserError(result);
    expect(result.stderr).toContain(`kcri: ${text}`);
    expect(testbed.mutatingCalls).toEqual([]);
  });
});

describe('a pod of kcri run', () => {
  async function withRunPods(): Promise<CommandTestbed> {
    const ofRun = (name: string, labels: Record<string, string> = {}) => {
      const sandbox = aSandbox({name, uid: `uid-of-${name}`});
      return {...sandbox, config: {...sandbox.config, labels, annotations: {'kcri/run': 'true'}}};
    };
    const [one, two] = [ofRun('one', {app: 'x'}), ofRun('two')];
    const testbed = await createTestbed({
      images: [anImage()],
      sandboxes: [one, two],
      containers: [
        aContainer({sandbox: one, name: 'one'}),
        aContainer({sandbox: two, name: 'two', state: 'CONTAINER_EXITED'}),
      ],
    });
    await mkdir(join(testbed.rootDir, 'kcri/run'), {recursive: true});
    await writeFile(join(testbed.rootDir, 'kcri/run', 'default_one_uid-of-one.log'), '');
    return testbed;
  }
  const names = ({runtime}: CommandTestbed) => runtime.sandboxes.map(({config}) => config.metadata?.name);

  test.each([['one'], ['default/one'], ['pod/one'], ['uid-of-one']])(
    'is deleted by %s, with its log',
    async (word) => {
      const testbed = await withRunPods();
      expect(await testbed.run(['delete', word])).toEqual({
        stdout: 'pod "default/one" deleted\n',
        stderr: '',
        exitCode: 0,
      });
      expect(names(testbed)).toEqual(['two']);
      expect(testbed.runtime.callsTo('StopContainer').map(({request}) => request)).toMatchObject([
        {timeout: '10'},
      ]);
      expect(await readdir(join(testbed.rootDir, 'kcri/run'))).toEqual([]);
    },
  );

  test('is deleted by its labels, and by --all beside the pods of sync', async () => {
    const testbed = await withRunPods();
    await testbed.run(['delete', '-l', 'app=x']);
    expect(names(testbed)).toEqual(['two']);
    await syncPods(testbed, aManifest());
    expect(await testbed.run(['delete', '--all', '--grace-period=3'])).toMatchObject({
      stdout: 'pod "default/web" deleted\npod "default/two" deleted\n',
      exitCode: 0,
    });
    expect(names(testbed)).toEqual([]);
  });

  test('stays if another namespace is meant', async () => {
    const testbed = await withRunPods();
    expect(await testbed.run(['delete', 'one', '-n', 'test'])).toMatchObject({exitCode: 1});
    expect(names(testbed)).toEqual(['one', 'two']);
  });
});

test.each([
  ['deployment/web', ['deployment/web']],
  ['names', ['default/a', 'default/b', 'default/c']],
  ['--all', ['--all']],
])('the pods of %s stop at the same time', async (kind, args) => {
  const testbed = await createTestbed();
  const template = {
    metadata: {labels: {app: 'web'}},
    spec: {containers: [aContainerSpec('main')], terminationGracePeriodSeconds: 600},
  };
  const deployment = {
    ...{apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'web'}},
    spec: {replicas: 3, selector: {matchLabels: {app: 'web'}}, template},
  };
  await syncPods(
    testbed,
    ...(kind === 'names' ? ['a', 'b', 'c'].map((name) => aManifest({name})) : [JSON.stringify(deployment)]),
  );
  const stops = () => testbed.runtime.callsTo('StopContainer').length;
  // No container stops before all are told to.
  testbed.runtime.injectAction('StopContainer', async () => until(() => stops() === 3), {times: 3});
  const {stdout, exitCode} = await testbed.run(['delete', ...args]);
  expect({deleted: stdout.match(/^pod ".*" deleted$/gm)?.length, exitCode}).toEqual({
    deleted: 3,
    exitCode: 0,
  });
  expect(await testbed.records()).toEqual([]);
});
