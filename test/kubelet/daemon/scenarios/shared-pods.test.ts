import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {acquireLock, type Lock} from '../../../../src/base/fs/lock.js';
import type {PodRecord} from '../../../../src/kubelet/pods/registry/pod-store.js';
import {aContainerSpec, aManifest, isMutatingCall} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

const MINUTE_MS = 60_000;
const BUSY = /pod "default\/web-goldennode": another kcri process \(PID \d+\) is working on it/;

/** Acquires the pod lock as another kcri process does while it works on the pod. */
async function lockPod(testbed: DaemonTestbed): Promise<Lock> {
  return await acquireLock(join(testbed.rootDir, 'kcri/locks', 'default_web-goldennode.lock'));
}

async function recordPath(testbed: DaemonTestbed): Promise<string> {
  const [record = ''] = (await testbed.listRemains())['records'] ?? [];
  return join(testbed.rootDir, 'kcri/records', record);
}

async function readRecord(testbed: DaemonTestbed): Promise<string> {
  return await readFile(await recordPath(testbed), 'utf8');
}

async function changeRecord(testbed: DaemonTestbed, change: Partial<PodRecord>): Promise<void> {
  const record = JSON.parse(await readRecord(testbed)) as PodRecord;
  await writeFile(await recordPath(testbed), JSON.stringify({...record, ...change}));
}

const hasBusyError = (testbed: DaemonTestbed): boolean => testbed.errors.some((error) => BUSY.test(error));

test('a pod locked by another kcri is not started before the lock is released', async () => {
  await using testbed = await DaemonTestbed.start();
  const lock = await lockPod(testbed);
  await testbed.put('web.yaml', aManifest());
  await testbed.until('it is logged', () => hasBusyError(testbed));
  await testbed.clock.sleep(MINUTE_MS);
  expect(await testbed.listRemains()).toMatchObject({sandboxes: [], records: []});
  await lock[Symbol.asyncDispose]();
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
});

test('a pod whose deletion another kcri has begun is left to that process', async () => {
  await using testbed = await DaemonTestbed.start();
  await testbed.put('web.yaml', aManifest());
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.stop();
  const lock = await lockPod(testbed);
  testbed.kill('main');
  testbed.run();
  await testbed.until('it is logged', () => hasBusyError(testbed));
  await testbed.clock.sleep(MINUTE_MS);
  expect(testbed.running).toEqual([]);
  await lock[Symbol.asyncDispose]();
  await testbed.until('it runs again', () => testbed.running.includes('web-goldennode/main/1'));
});

test('a pod claimed by kcri sync while no daemon ran is neither terminated nor changed', async () => {
  await using testbed = await DaemonTestbed.start();
  await testbed.put('web.yaml', aManifest());
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.stop();
  const [record = ''] = (await testbed.listRemains())['records'] ?? [];
  const path = join(testbed.rootDir, 'kcri/records', record);
  const {manager, ...rest} = JSON.parse(await readFile(path, 'utf8')) as {readonly manager: string};
  expect(manager).toBe('kubelet');
  const lock = await lockPod(testbed);
  testbed.run();
  await testbed.until('it is logged', () => hasBusyError(testbed));
  await writeFile(path, JSON.stringify(rest));
  await lock[Symbol.asyncDispose]();
  await testbed.until('the conflict is logged', () =>
    testbed.errors.some((error) =>
      error.includes('pod "default/web-goldennode" of "kcri sync" already exists'),
    ),
  );
  await testbed.remove('web.yaml');
  await testbed.clock.sleep(2 * MINUTE_MS);
  expect(testbed.running).toEqual(['web-goldennode/main/0']);
  expect((await testbed.listRemains())['records']).toEqual([record]);
});

test('a pod created on another runtime is ignored, and no other pod with its name is created', async () => {
  await using testbed = await DaemonTestbed.start();
  await testbed.put('web.yaml', aManifest());
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.stop();
  const before = await testbed.listRemains();
  await using other = await DaemonTestbed.start({rootDir: testbed.rootDir});
  await other.clock.sleep(MINUTE_MS);
  expect(await testbed.listRemains()).toEqual(before);
  const errorCount = (): number =>
    other.errors.filter((error) =>
      error.includes(`pod "default/web-goldennode": its runtime is "${testbed.fake.endpoint}"`),
    ).length;
  expect(errorCount()).toBe(1);
  await other.put('web.yaml', aManifest());
  await other.until('it is logged again', () => errorCount() > 1);
  await other.clock.sleep(MINUTE_MS);
  expect(await testbed.listRemains()).toEqual(before);
  expect(other.ownContainers).toEqual([]);
});

test('a pod whose runtime has moved to another socket goes on running', async () => {
  await using testbed = await DaemonTestbed.start();
  await testbed.put('web.yaml', aManifest());
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.stop();
  const endpoint = `unix://${testbed.rootDir}/gone.sock`;
  await changeRecord(testbed, {endpoint});
  const callsBefore = testbed.fake.calls.length;
  testbed.run();
  await testbed.until('the record is moved', async () => !(await readRecord(testbed)).includes(endpoint));
  await testbed.clock.sleep(2 * MINUTE_MS);
  expect(testbed.running).toEqual(['web-goldennode/main/0']);
  expect(
    testbed.fake.calls
      .slice(callsBefore)
      .map(({method}) => method)
      .filter(isMutatingCall),
  ).toEqual([]);
  await testbed.remove('web.yaml');
  await testbed.until('the pod is removed', () => testbed.running.length === 0);
});

test('a pod is not started again on a runtime that does not have it, if its own has no socket', async () => {
  await using testbed = await DaemonTestbed.start();
  await testbed.put('web.yaml', aManifest());
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.stop();
  const endpoint = `unix://${testbed.rootDir}/gone.sock`;
  await changeRecord(testbed, {endpoint});
  await using other = await DaemonTestbed.start({rootDir: testbed.rootDir});
  await other.put('web.yaml', aManifest());
  await other.until('it is logged', () =>
    other.errors.some((error) => error.includes(`its runtime is "${endpoint}"`)),
  );
  await other.clock.sleep(MINUTE_MS);
  expect(other.ownContainers).toEqual([]);
});

test('versions of a static pod that is removed while no daemon runs do not wait for each other', async () => {
  await using testbed = await DaemonTestbed.start();
  await testbed.stop();
  for (const command of ['one', 'two']) {
    await testbed.put('web.yaml', aManifest({containers: [aContainerSpec('main', {command: [command]})]}));
    testbed.run();
    await testbed.until('only this version runs', () => {
      const running = testbed.ownContainers.filter(({state}) => state === 'CONTAINER_RUNNING');
      return running.length === 1 && running[0]?.config.command[0] === command;
    });
    await testbed.stop();
  }
  await testbed.remove('web.yaml');
  testbed.run();
  await testbed.until('the pod has stopped', () => testbed.running.length === 0);
  expect(testbed.errors.filter((error) => BUSY.test(error))).toEqual([]);
});
