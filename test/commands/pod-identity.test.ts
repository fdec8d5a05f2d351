import {readFile, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../src/base/clock.js';
import {acquireLock} from '../../src/base/fs/lock.js';
import {until} from '../base/until.js';
import {
  aManifest,
  createTestbed,
  expectUserError,
  NO_LEFTOVERS,
  onlyRecord,
  type CommandTestbed,
  createSyncedTestbed,
} from './command-testbed.js';

async function onlyRecordPath(testbed: CommandTestbed): Promise<string> {
  const [name = ''] = await testbed.records();
  return join(testbed.rootDir, 'kcri/records', name);
}

test.each(['sync', 'plan'])(
  '%s does not create a second pod if the record of its name is invalid',
  async (command) => {
    const testbed = await createSyncedTestbed();
    const {uid} = await onlyRecord(testbed);
    await writeFile(await onlyRecordPath(testbed), '{"version": 1');
    const stdin = aManifest({restartPolicy: 'Never'});
    const rejected = await testbed.run([command, '-'], {stdin});
    expectUserError(rejected);
    expect(rejected.stderr).toContain('pod "default/web" already exists: invalid pod record "');
    expect(rejected.stderr).toContain(
      `hint: run "kcri delete ${String(uid)}" to delete it, or restore the file\n`,
    );
    expect(testbed.mutatingCalls).toEqual([]);

    expect(await testbed.run(['delete', String(uid)])).toMatchObject({stderr: '', exitCode: 0});
    expect(await testbed.run([command, '-'], {stdin})).toMatchObject({exitCode: 0});
  },
);

test.each(['sync', 'plan'])('%s rejects a name too long for the log directory', async (command) => {
  const testbed = await createTestbed();
  const name = Array.from({length: 4}, () => 'a'.repeat(60)).join('.');
  const result = await testbed.run([command, '-'], {stdin: aManifest({name})});
  expectUserError(result);
  expect(result.stderr).toContain(
    'the log directory NAMESPACE_NAME_UID would have a name of 288 characters; at most 255 are allowed',
  );
  expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
});

test('of two concurrently synced pods with one UID only one is created', async () => {
  const testbed = await createTestbed();
  const names = ['a', 'b', 'c'];
  const results = await Promise.all(
    names.map(
      async (name) =>
        await testbed.run(['sync', '-'], {stdin: aManifest({name, metadata: {name, uid: 'the-same'}})}),
    ),
  );
  expect(results.map(({exitCode}) => exitCode).toSorted()).toEqual([0, 1, 1]);
  const rejected = results.filter(({exitCode}) => exitCode === 1);
  for (const {stderr} of rejected) expect(stderr).toContain('the UID "the-same" of pod "default/');
  const created = names.filter((_, index) => results[index]!.exitCode === 0);
  expect(testbed.runtime.sandboxes.map(({config}) => config.metadata?.name)).toEqual(created);
  expect(await onlyRecord(testbed)).toMatchObject({name: created[0]});
});

/** Interval in which a lock is looked at again, in ms. */
const LOCK_POLL_MS = 50;

/** Deletes web while another process holds its lock and runs `meanwhile`. */
async function deleteAfter(testbed: CommandTestbed, meanwhile: () => Promise<void>) {
  const lock = await acquireLock(join(testbed.rootDir, 'kcri/locks', 'default_web.lock'));
  const sleeps: number[] = [];
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    sleeps.push(ms);
    await systemClock.sleep(ms, signal);
  };
  const deleting = testbed.run(['delete', 'web'], {clock: {...systemClock, sleep}});
  await until(() => sleeps.includes(LOCK_POLL_MS));
  await meanwhile();
  await lock[Symbol.asyncDispose]();
  return await deleting;
}

test('delete reports that another kcri was faster', async () => {
  const testbed = await createSyncedTestbed();
  const path = await onlyRecordPath(testbed);
  const result = await deleteAfter(testbed, async () => {
    await unlink(path);
  });
  expect(result).toEqual({
    stdout: 'pod "default/web" deleted\n',
    stderr: 'kcri: warning: pod "default/web" was deleted by another kcri process\n',
    exitCode: 0,
  });
  expect(testbed.mutatingCalls).toEqual([]);
});

test('delete keeps a pod that has replaced the one it found', async () => {
  const testbed = await createSyncedTestbed();
  const path = await onlyRecordPath(testbed);
  const result = await deleteAfter(testbed, async () => {
    const text = await readFile(path, 'utf8');
    const {uid} = JSON.parse(text) as {readonly uid: string};
    await unlink(path);
    await writeFile(join(testbed.rootDir, 'kcri/records', 'newer.json'), text.replaceAll(uid, 'newer'));
  });
  expect(result).toEqual({
    stdout: '',
    stderr:
      'kcri: pod "default/web": another kcri process replaced it while this one was waiting\n' +
      'hint: the new pod is unchanged; run the command again to delete it\n',
    exitCode: 1,
  });
  expect(testbed.mutatingCalls).toEqual([]);
  expect(await testbed.records()).toEqual(['newer.json']);
});
