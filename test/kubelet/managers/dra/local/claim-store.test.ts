import {readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test, vi} from 'vitest';
import {systemClock} from '../../../../../src/base/clock.js';
import type {AllocatedClaim} from '../../../../../src/kubelet/managers/dra/local/allocated-claim.js';
import {ClaimStore} from '../../../../../src/kubelet/managers/dra/local/claim-store.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {DRIVER} from './device-fixtures.js';

const DEVICE = {request: 'req', driver: DRIVER, pool: 'pool', device: 'dev'};
const CONSUMER = {resource: 'pods', name: 'web', uid: 'uid-web'};

const CLAIM: AllocatedClaim = {
  ...{version: 1, manager: 'kubelet'},
  claim: {
    metadata: {uid: 'u', name: 'gpu', namespace: 'default'},
    spec: {devices: {}},
    status: {allocation: {devices: {results: [DEVICE]}}, reservedFor: [CONSUMER]},
  },
};

const aStore = async (): Promise<ClaimStore> => new ClaimStore(join(await temporaryDirectory(), 'root'));

test('a claim is read as it was stored', async () => {
  const store = await aStore();
  expect(await store.get('u')).toBeUndefined();
  await store.put(CLAIM);
  expect([await store.get('u'), await store.list()]).toEqual([CLAIM, [CLAIM]]);
});

test.each([
  ['an unknown version', '"version":1', '"version":2'],
  ['an unknown manager', '"kubelet"', '"other"'],
  ['no name', '"name":"gpu",', ''],
  ['another UID', '"uid":"u"', '"uid":"v"'],
  ['no spec', '"spec"', '"other"'],
  ['no allocation', '"allocation"', '"other"'],
  ['no devices', '{"devices":{"results"', '{"other":{"results"'],
  ['devices that are no list', `[${JSON.stringify(DEVICE)}]`, '{}'],
  ['a device that is no object', JSON.stringify(DEVICE), 'null'],
  ['a device without a name', ',"device":"dev"', ''],
  ['a device without a driver', `"driver":"${DRIVER}",`, ''],
  ['a device with a numeric pool', '"pool":"pool"', '"pool":1'],
  ['no consumers', '"reservedFor"', '"other"'],
  ['a consumer that is no object', JSON.stringify(CONSUMER), '"uid-web"'],
  ['a consumer without a UID', ',"uid":"uid-web"', ''],
])('a file with %s is damaged', async (_title, part, replacement) => {
  const store = await aStore();
  await store.put(CLAIM);
  const path = join(store.directory, 'u.json');
  const text = await readFile(path, 'utf8');
  expect(text).toContain(part);
  await writeFile(path, text.replace(part, replacement));
  const message = `invalid state of a resource claim in "${path}"`;
  await expect(store.list()).rejects.toThrow(message);
  await expect(store.get('u')).rejects.toThrow(message);
});

test('a lock creates a directory that only root can read', async () => {
  const store = await aStore();
  await store.locked('allocation', async () => Promise.resolve());
  expect((await stat(store.directory)).mode & 0o777).toBe(0o700);
});

test('work of one process takes turns without polling, and leaves no lock', async () => {
  const store = await aStore();
  const sleep = vi.spyOn(systemClock, 'sleep');
  try {
    let running = 0;
    const most: number[] = [];
    const work = async (): Promise<void> => {
      running += 1;
      await readdir(store.directory);
      most.push(running);
      running -= 1;
    };
    await Promise.all([1, 2, 3, 4].map(async () => store.locked('allocation', work)));
    expect(most).toEqual([1, 1, 1, 1]);
    expect(sleep).not.toHaveBeenCalled();
    expect(await readdir(store.directory)).toEqual([]);
  } finally {
    sleep.mockRestore();
  }
});
