import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {acquireLock, type Lock} from '../../../../src/base/fs/lock.js';
import {aManifest} from '../../../commands/pod-scene.js';
import {DaemonTestbed} from '../daemon-testbed.js';

const MINUTE_MS = 60_000;
const BUSY = /pod "default\/web-goldennode": another kcri \(pid \d+\) works on it just now/;

/** What a kcri holds that works on the pod. */
async function workOn(ground: DaemonTestbed): Promise<Lock> {
  return await acquireLock(join(ground.rootDir, 'locks', 'default_web-goldennode.lock'));
}

const saysBusy = (ground: DaemonTestbed): boolean => ground.errors.some((error) => BUSY.test(error));

test('a pod that another kcri works on is not started before that one has ended', async () => {
  await using ground = await DaemonTestbed.start();
  const lock = await workOn(ground);
  await ground.put('web.yaml', aManifest());
  await ground.until('it is told', () => saysBusy(ground));
  await ground.clock.sleep(MINUTE_MS);
  expect(await ground.listRemains()).toMatchObject({sandboxes: [], records: []});
  await lock[Symbol.asyncDispose]();
  await ground.until('the pod runs', () => ground.statusOf('web').ready === 1);
});

test('a pod that another kcri has begun to end before the daemon came up is left to it', async () => {
  await using ground = await DaemonTestbed.start();
  await ground.put('web.yaml', aManifest());
  await ground.until('the pod runs', () => ground.statusOf('web').ready === 1);
  await ground.stop();
  const lock = await workOn(ground);
  ground.kill('main');
  ground.run();
  await ground.until('it is told', () => saysBusy(ground));
  await ground.clock.sleep(MINUTE_MS);
  expect(ground.running).toEqual([]);
  await lock[Symbol.asyncDispose]();
  await ground.until('it runs again', () => ground.running.includes('web-goldennode/main/1'));
});

test('a pod that kcri sync has taken over while no daemon ran is not ended and not changed', async () => {
  await using ground = await DaemonTestbed.start();
  await ground.put('web.yaml', aManifest());
  await ground.until('the pod runs', () => ground.statusOf('web').ready === 1);
  await ground.stop();
  const [record = ''] = (await ground.listRemains())['records'] ?? [];
  const path = join(ground.rootDir, 'records', record);
  const {manager, ...rest} = JSON.parse(await readFile(path, 'utf8')) as {readonly manager: string};
  expect(manager).toBe('kubelet');
  const lock = await workOn(ground);
  ground.run();
  await ground.until('it is told', () => saysBusy(ground));
  await writeFile(path, JSON.stringify(rest));
  await lock[Symbol.asyncDispose]();
  await ground.until('it is told whose it is', () =>
    ground.errors.some((error) =>
      error.includes('the pod "default/web-goldennode" of "kcri sync" is there already'),
    ),
  );
  await ground.remove('web.yaml');
  await ground.clock.sleep(2 * MINUTE_MS);
  expect(ground.running).toEqual(['web-goldennode/main/0']);
  expect((await ground.listRemains())['records']).toEqual([record]);
});

test('a pod that was made on another runtime is left alone, and no other of its name made beside it', async () => {
  await using ground = await DaemonTestbed.start();
  await ground.put('web.yaml', aManifest());
  await ground.until('the pod runs', () => ground.statusOf('web').ready === 1);
  await ground.stop();
  const before = await ground.listRemains();
  await using other = await DaemonTestbed.start({rootDir: ground.rootDir});
  await other.clock.sleep(MINUTE_MS);
  expect(await ground.listRemains()).toEqual(before);
  const told = (): number =>
    other.errors.filter((error) =>
      error.includes(`pod "default/web-goldennode": was made on "${ground.fake.endpoint}"`),
    ).length;
  expect(told()).toBe(1);
  await other.put('web.yaml', aManifest());
  await other.until('it is told again', () => told() > 1);
  await other.clock.sleep(MINUTE_MS);
  expect(await ground.listRemains()).toEqual(before);
  expect(other.ownContainers).toEqual([]);
});
