import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {
  aManifest,
  aManifestDirectory,
  aContainerSpec,
  createTestbed,
  expectUserError,
  type CommandTestbed,
} from '../command-testbed.js';

const names = ({runtime}: CommandTestbed): readonly string[] =>
  runtime.sandboxes
    .map(({config}) => `${config.metadata?.namespace ?? ''}/${config.metadata?.name ?? ''}`)
    .toSorted();

const labeled = (name: string, app: string, metadata: object = {}): string =>
  aManifest({name, metadata: {labels: {app}, ...metadata}});

const JOB = JSON.stringify({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {name: 'once'},
  spec: {
    template: {
      spec: {restartPolicy: 'Never', containers: [aContainerSpec('main', {command: ['true']})]},
    },
  },
});

/** Syncs a directory with the pods `a` and `b`, and another file with the pod `other`. */
async function synced() {
  const testbed = await createTestbed();
  const directory = await aManifestDirectory(testbed, {
    'a.json': labeled('a', 'web'),
    'b.json': labeled('b', 'web'),
  });
  const other = await testbed.write('other.json', labeled('other', 'web'));
  expect(await testbed.run(['sync', directory, other])).toMatchObject({exitCode: 0});
  await testbed.run(['sync', '-'], {stdin: labeled('c', 'db')});
  return {testbed, directory, other};
}

async function inDirectory(directory: string, act: () => Promise<void>): Promise<void> {
  const before = process.cwd();
  process.chdir(directory);
  try {
    await act();
  } finally {
    process.chdir(before);
  }
}

describe('sync --prune', () => {
  // Proves: sync --prune, plan --prune
  test('deletes the pods of the directory that it no longer contains, as plan says', async () => {
    const {testbed, directory} = await synced();
    await rm(join(directory, 'b.json'));
    const plan = await testbed.run(['plan', directory, '--prune']);
    expect(plan.stdout).toContain('would be deleted: no longer in the manifests');
    expect(plan.stdout).not.toContain('default/other');
    const {stdout, stderr, exitCode} = await testbed.run(['sync', directory, '--prune']);
    expect(exitCode).toBe(0);
    expect(stdout + stderr).toContain('deleted (no longer in the manifests)');
    expect(names(testbed)).toEqual(['default/a', 'default/c', 'default/other']);
  });

  test('finds the pods by the path of their file, from whatever directory', async () => {
    const {testbed, directory} = await synced();
    await testbed.write('manifests/b.json', labeled('renamed', 'web'));
    await inDirectory(testbed.directory, async () => {
      expect(await testbed.run(['sync', 'manifests/b.json', '--prune'])).toMatchObject({exitCode: 0});
    });
    expect(directory).toContain(testbed.directory);
    expect(names(testbed)).toEqual(['default/a', 'default/c', 'default/other', 'default/renamed']);
  });

  test('keeps the pods of standard input that was read in the directory', async () => {
    const {testbed, directory} = await synced();
    await inDirectory(directory, async () => {
      expect(await testbed.run(['sync', '-'], {stdin: labeled('piped', 'web')})).toMatchObject({exitCode: 0});
      expect(await testbed.run(['sync', '.', '--prune'])).toMatchObject({exitCode: 0});
    });
    expect(names(testbed)).toContain('default/piped');
  });

  test('without the flag deletes nothing', async () => {
    const {testbed, directory} = await synced();
    await rm(join(directory, 'b.json'));
    await testbed.run(['sync', directory]);
    expect(names(testbed)).toContain('default/b');
  });

  test('deletes nothing if a pod of the manifests fails', async () => {
    const {testbed, directory} = await synced();
    await testbed.write(
      'manifests/b.json',
      aManifest({
        name: 'bad',
        containers: [aContainerSpec('x', {image: 'none:1', imagePullPolicy: 'Never'})],
      }),
    );
    expect(await testbed.run(['sync', directory, '--prune'])).toMatchObject({exitCode: 1});
    expect(names(testbed)).toContain('default/b');
  });

  test('keeps pods of namespaces without an object in the manifests', async () => {
    const {testbed, directory} = await synced();
    await testbed.write('manifests/b.json', labeled('x', 'web', {namespace: 'test'}));
    await testbed.run(['sync', directory]);
    await rm(join(directory, 'b.json'));
    await testbed.run(['sync', directory, '--prune']);
    expect(names(testbed)).toEqual(['default/a', 'default/c', 'default/other', 'test/x']);
  });

  test('keeps the pods of a Job that is in the manifests, and deletes those of one that is not', async () => {
    const {testbed, directory} = await synced();
    const job = await testbed.write('manifests/job.json', JOB);
    const isOfJob = (name: string): boolean => name.startsWith('default/once-');
    expect(await testbed.run(['sync', directory, '--prune'])).toMatchObject({exitCode: 0});
    expect(await testbed.run(['sync', directory, '--prune'])).toMatchObject({exitCode: 0});
    expect((await testbed.records()).length).toBe(5);
    await rm(job);
    expect(await testbed.run(['sync', directory, '--prune'])).toMatchObject({exitCode: 0});
    expect(names(testbed).filter(isOfJob)).toEqual([]);
    expect((await testbed.records()).length).toBe(4);
  });
});

describe('sync --prune --selector', () => {
  // Proves: sync --selector
  test('deletes the pods of all earlier syncs that match, also of standard input', async () => {
    const {testbed} = await synced();
    const {exitCode} = await testbed.run(['sync', '-', '--prune', '-l', 'app=web'], {
      stdin: labeled('a', 'web'),
    });
    expect(exitCode).toBe(0);
    expect(names(testbed)).toEqual(['default/a', 'default/c']);
  });

  // Proves: plan --selector
  test.each([
    [['-', '--prune'], '--prune of standard input requires --selector'],
    [['-', '-l', 'app=web'], '--selector requires --prune'],
    [['-', '--prune', '-l', ''], '--selector must not be empty'],
    [['-', '--prune', '-l', 'app=db'], 'pod "default/a" does not match --selector'],
  ])('rejects %j', async (args, text) => {
    const {testbed} = await synced();
    testbed.runtime.clearCalls();
    for (const command of ['sync', 'plan']) {
      const result = await testbed.run([command, ...args], {stdin: labeled('a', 'web')});
      expectUserError(result);
      expect(result.stderr).toContain(`kcri: ${text}\n`);
    }
    expect(testbed.mutatingCalls).toEqual([]);
  });
});
