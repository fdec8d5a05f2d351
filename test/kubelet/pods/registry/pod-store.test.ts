import {mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {podUid} from '../../../../src/cri/index.js';
import {PodStore, type PodRecord} from '../../../../src/kubelet/pods/registry/pod-store.js';
import {ABANDONED_FILE} from '../../../base/abandoned-file.js';
import {countFileRequests} from '../../../base/count-file-requests.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

function aRecord(uid: string, override: Partial<PodRecord> = {}): PodRecord {
  return {
    uid: podUid(uid),
    namespace: 'default',
    name: 'web',
    source: 'web.yaml',
    createdAt: '2026-11-20T10:00:00.000Z',
    endpoint: 'unix:///run/containerd/containerd.sock',
    place: {
      podLogsDir: '/var/log/pods',
      cgroup: {version: 2, driver: 'cgroupfs', root: '', swapAccounting: true},
    },
    pod: aPod({containers: [aContainer({env: [{name: 'TOKEN', value: 's3cret'}]})]}, {uid}),
    ...override,
  };
}

async function aStore(): Promise<{store: PodStore; directory: string}> {
  const rootDir = join(await temporaryDirectory(), 'root');
  return {store: new PodStore(rootDir), directory: join(rootDir, 'kcri/records')};
}

test('a record is read back as stored, and only its owner can read the file', async () => {
  const {store, directory} = await aStore();
  await store.put(aRecord('u1'));
  expect(await store.get(podUid('u1'))).toEqual(aRecord('u1'));
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, 'u1.json'))).mode & 0o777).toBe(0o600);
});

test('many records are stored with one sync of their directory', async () => {
  const {store, directory} = await aStore();
  const records = ['u1', 'u2', 'u3'].map((uid) => aRecord(uid));
  const requestsFor = async (some: readonly PodRecord[]): Promise<number> => {
    using requests = countFileRequests();
    await store.putAll(some);
    return requests.count;
  };
  expect(await requestsFor([])).toBe(0);
  await store.putAll(records);
  // Each further record is opened, written, synced and renamed.
  expect((await requestsFor(records)) - (await requestsFor(records.slice(0, 1)))).toBe(2 * 4);
  expect((await store.list()).records).toEqual(records);
  expect((await readdir(directory)).toSorted()).toEqual(['u1.json', 'u2.json', 'u3.json']);
});

test('storing a record again replaces it', async () => {
  const {store, directory} = await aStore();
  await store.put(aRecord('u1'));
  await store.put(aRecord('u1', {source: '-'}));
  expect(await store.get(podUid('u1'))).toMatchObject({source: '-'});
  expect(await readdir(directory)).toEqual(['u1.json']);
});

test('reading a missing root directory finds no records and does not create it', async () => {
  const {store, directory} = await aStore();
  expect(await store.get(podUid('u1'))).toBeUndefined();
  expect(await store.list()).toEqual({records: [], removed: [], broken: []});
  await store.delete(podUid('u1'));
  await expect(stat(directory)).rejects.toThrow('ENOENT');
});

test('records are listed oldest first', async () => {
  const {store} = await aStore();
  await store.put(aRecord('a', {createdAt: '2026-11-20T10:00:02.000Z'}));
  await store.put(aRecord('b', {createdAt: '2026-11-20T12:00:01.000+02:00'}));
  const {records} = await store.list();
  expect(records.map(({uid}) => uid)).toEqual(['b', 'a']);
});

test('a removed pod is listed separately', async () => {
  const {store} = await aStore();
  const gone = aRecord('a', {removedAt: '2026-11-20T10:00:02.000Z'});
  await store.put(gone);
  expect(await store.list()).toEqual({records: [], removed: [gone], broken: []});
  await store.put(aRecord('a', {removedAt: 'yesterday'}));
  expect((await store.list()).broken.map(({error}) => error.message).join()).toContain('"removedAt"');
});

test('deleting a record also removes the temporary file of an interrupted write', async () => {
  const {store, directory} = await aStore();
  await store.put(aRecord('u1'));
  await store.put(aRecord('u10'));
  await writeFile(join(directory, ABANDONED_FILE), 's3cret');
  await store.delete(podUid('u1'));
  expect(await readdir(directory)).toEqual(['u10.json']);
});

test.each([
  ['empty', '', 'must be JSON'],
  ['truncated', '{"version": 1, "uid"', 'must be JSON'],
  ['a list', '[]', 'must be a JSON object'],
  ['of another version', '{"version": 2}', 'must have version 1, not 2'],
  ['without a version', '{}', 'must have version 1, not undefined'],
  ['of another pod', JSON.stringify({version: 1, ...aRecord('u2')}), 'missing or invalid field "uid"'],
  [
    'of a pod without containers',
    JSON.stringify({version: 1, ...aRecord('bad'), pod: {metadata: {uid: 'bad'}, spec: {}}}),
    'missing or invalid field "pod"',
  ],
])('a record that is %s is reported and does not hide others', async (_title, text, problem) => {
  const {store, directory} = await aStore();
  await store.put(aRecord('good'));
  await writeFile(join(directory, 'bad.json'), text);
  const {records, broken} = await store.list();
  expect(records.map(({uid}) => uid)).toEqual(['good']);
  expect(broken.map(({uid, error}) => [uid, error.message])).toEqual([
    ['bad', expect.stringContaining(problem)],
  ]);
  await expect(store.get(podUid('bad'))).rejects.toThrow(problem);
});

test('a broken record can be deleted', async () => {
  const {store, directory} = await aStore();
  await store.put(aRecord('good'));
  await writeFile(join(directory, 'bad.json'), '{');
  await store.delete(podUid('bad'));
  expect(await readdir(directory)).toEqual(['good.json']);
});

test('a directory in place of a record is reported', async () => {
  const {store, directory} = await aStore();
  await mkdir(join(directory, 'bad.json'), {recursive: true});
  const {broken} = await store.list();
  expect(broken.map(({error}) => error.message)).toEqual([
    `reading "${join(directory, 'bad.json')}": illegal operation on a directory`,
  ]);
});

test.each(['../../etc/x', '', 'a/b', '.x'])('the UID %j is never used as a path', async (uid) => {
  const {store} = await aStore();
  await expect(store.put(aRecord(uid))).rejects.toThrow('cannot be a file name');
  await expect(store.get(podUid(uid))).rejects.toThrow('cannot be a file name');
  await expect(store.delete(podUid(uid))).rejects.toThrow('cannot be a file name');
});

test('the directory of links to logs may be missing, as in older records, and is a text', async () => {
  const {store} = await aStore();
  const {place} = aRecord('u1');
  await store.put(aRecord('u1', {place: {...place, containerLogsDir: ''}}));
  expect((await store.get(podUid('u1')))?.place.containerLogsDir).toBe('');
  await store.put(aRecord('u1', {place: {...place, containerLogsDir: 5 as unknown as string}}));
  await expect(store.get(podUid('u1'))).rejects.toThrow('place');
});

test('secrets are in the record, but not in error messages', async () => {
  const {store, directory} = await aStore();
  await store.put(aRecord('u1'));
  const text = await readFile(join(directory, 'u1.json'), 'utf8');
  await writeFile(join(directory, 'u1.json'), text.replace('"s3cret"', 's3cret'));
  const {broken} = await store.list();
  expect(text).toContain('s3cret');
  expect(broken).toHaveLength(1);
  expect(JSON.stringify(broken) + String(broken[0]?.error.stack)).not.toContain('s3cret');
});
