import {readFile, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../src/base/clock.js';
import {acquireLock} from '../../src/base/fs/lock.js';
import {aManifest, aScene, expectUserError, NO_LEFTOVERS, onlyRecord, type PodScene} from './pod-scene.js';

async function aSyncedScene(): Promise<PodScene> {
  const scene = await aScene();
  expect(await scene.run(['sync', '-'], {stdin: aManifest()})).toMatchObject({exitCode: 0});
  scene.runtime.clearCalls();
  return scene;
}

async function onlyRecordPath(scene: PodScene): Promise<string> {
  const [name = ''] = await scene.records();
  return join(scene.rootDir, 'records', name);
}

test.each(['sync', 'plan'])('%s starts no second pod of a name whose record is broken', async (command) => {
  const scene = await aSyncedScene();
  const {uid} = await onlyRecord(scene);
  await writeFile(await onlyRecordPath(scene), '{"version": 1');
  const stdin = aManifest({restartPolicy: 'Never'});
  const refused = await scene.run([command, '-'], {stdin});
  expectUserError(refused);
  expect(refused.stderr).toContain('pod "default/web" already exists: invalid pod record "');
  expect(refused.stderr).toContain(
    `hint: run "kcri delete ${String(uid)}" to delete it, or restore the file\n`,
  );
  expect(scene.mutatingCalls).toEqual([]);

  expect(await scene.run(['delete', String(uid)])).toMatchObject({stderr: '', exitCode: 0});
  expect(await scene.run([command, '-'], {stdin})).toMatchObject({exitCode: 0});
});

test.each(['sync', 'plan'])('%s refuses a name that no log directory can be made for', async (command) => {
  const scene = await aScene();
  const name = Array.from({length: 4}, () => 'a'.repeat(60)).join('.');
  const result = await scene.run([command, '-'], {stdin: aManifest({name})});
  expectUserError(result);
  expect(result.stderr).toContain(
    'the log directory NAMESPACE_NAME_UID would have a name of 288 characters; at most 255 are allowed',
  );
  expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
});

test('of two pods with one UID that are synced at once only one is made', async () => {
  const scene = await aScene();
  const names = ['a', 'b', 'c'];
  const results = await Promise.all(
    names.map(
      async (name) =>
        await scene.run(['sync', '-'], {stdin: aManifest({name, metadata: {name, uid: 'the-same'}})}),
    ),
  );
  expect(results.map(({exitCode}) => exitCode).toSorted()).toEqual([0, 1, 1]);
  const refused = results.filter(({exitCode}) => exitCode === 1);
  for (const {stderr} of refused) expect(stderr).toContain('the UID "the-same" of the pod "default/');
  const made = names.filter((_, index) => results[index]!.exitCode === 0);
  expect(scene.runtime.sandboxes.map(({config}) => config.metadata?.name)).toEqual(made);
  expect(await onlyRecord(scene)).toMatchObject({name: made[0]});
});

/** Deletes web while another process has its lock, which does something meanwhile. */
async function deleteAfter(scene: PodScene, meanwhile: () => Promise<void>) {
  const lock = await acquireLock(join(scene.rootDir, 'locks', 'default_web.lock'));
  const deleting = scene.run(['delete', 'web']);
  while (scene.runtime.callsTo('Version').length === 0) await systemClock.sleep(5);
  await systemClock.sleep(100);
  await meanwhile();
  await lock[Symbol.asyncDispose]();
  return await deleting;
}

test('delete tells that another kcri was faster', async () => {
  const scene = await aSyncedScene();
  const path = await onlyRecordPath(scene);
  const result = await deleteAfter(scene, async () => {
    await unlink(path);
  });
  expect(result).toEqual({
    stdout: 'pod "default/web" deleted\n',
    stderr: 'kcri: warning: pod "default/web" was deleted by another kcri process\n',
    exitCode: 0,
  });
  expect(scene.mutatingCalls).toEqual([]);
});

test('delete leaves a pod that has come in the place of the one that it found', async () => {
  const scene = await aSyncedScene();
  const path = await onlyRecordPath(scene);
  const result = await deleteAfter(scene, async () => {
    const text = await readFile(path, 'utf8');
    const {uid} = JSON.parse(text) as {readonly uid: string};
    await unlink(path);
    await writeFile(join(scene.rootDir, 'records', 'newer.json'), text.replaceAll(uid, 'newer'));
  });
  expect(result).toEqual({
    stdout: '',
    stderr:
      'kcri: pod "default/web": was replaced by another kcri process while this one was waiting\n' +
      'hint: the new pod is unchanged; run the command again to delete it\n',
    exitCode: 1,
  });
  expect(scene.mutatingCalls).toEqual([]);
  expect(await scene.records()).toEqual(['newer.json']);
});
