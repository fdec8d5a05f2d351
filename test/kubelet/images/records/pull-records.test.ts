import {mkdir, readFile, readdir, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {FilePullRecords} from '../../../../src/kubelet/images/records/pull-records.js';
import type {PulledRecord} from '../../../../src/kubelet/images/records/pulled-record.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

/** sha256 of `repo.repo/test/test:v1`, as the kubelet's own tests have it. */
const INTENT = 'sha256-ee81caca15454863449fb55a1d942904d56d5ed9f9b20a7cb3453944ea2c7e11';
/** sha256 of `test-brokenhash`, likewise. */
const PULLED = 'sha256-38a8906435c4dd5f4258899d46621bfd8eea3ad6ff494ee3c2f17ef0321625bd';

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8);

async function aPlace() {
  const rootDir = await temporaryDirectory();
  const at = (...parts: readonly string[]): string => join(rootDir, 'image_manager', ...parts);
  const put = async (folder: string, name: string, text: string): Promise<void> => {
    await mkdir(at(folder), {recursive: true});
    await writeFile(at(folder, name), text);
  };
  return {rootDir, at, put, records: new FilePullRecords(rootDir)};
}

test("an intent is the kubelet's file, for root only, until it is deleted", async () => {
  const {at, records} = await aPlace();
  const pull = await records.writeIntent('repo.repo/test/test:v1');
  expect(await readFile(at('pulling', INTENT), 'utf8')).toBe(
    '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"repo.repo/test/test:v1"}\n',
  );
  expect([await modeOf(at()), await modeOf(at('pulling')), await modeOf(at('pulling', INTENT))]).toEqual([
    '700',
    '700',
    '600',
  ]);
  expect(await records.hasIntent('repo.repo/test/test:v1')).toBe(true);
  expect(await records.listIntents()).toEqual(['repo.repo/test/test:v1']);
  await pull[Symbol.asyncDispose]();
  await records.deleteIntent('repo.repo/test/test:v1');
  await records.deleteIntent('repo.repo/test/test:v1');
  expect([await records.hasIntent('repo.repo/test/test:v1'), await readdir(at('pulling'))]).toEqual([
    false,
    [],
  ]);
});

test('without a directory there are no records', async () => {
  const {records} = await aPlace();
  expect(await records.listIntents()).toEqual([]);
  expect(await records.readPulled('sha256:1')).toBeUndefined();
});

const VERSION = 'kubelet.config.k8s.io/v1beta1';
const RECORD: PulledRecord = {
  lastUpdatedTime: '2024-10-21T12:26:40Z',
  imageRef: 'test-brokenhash',
  credentialMapping: {'docker.io/testing/test': {nodePodsAccessible: true}},
};

test("a pulled record is the kubelet's file, for root only", async () => {
  const {at, records} = await aPlace();
  await records.updatePulled('test-brokenhash', (before) => {
    expect(before).toBeUndefined();
    return RECORD;
  });
  expect(await readFile(at('pulled', PULLED), 'utf8')).toBe(
    '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2024-10-21T12:26:40Z","imageRef":"test-brokenhash","credentialMapping":{"docker.io/testing/test":{"nodePodsAccessible":true}}}\n',
  );
  expect([await modeOf(at('pulled')), await modeOf(at('pulled', PULLED))]).toEqual(['700', '600']);
  expect(await records.readPulled('test-brokenhash')).toEqual(RECORD);
});

test('what an older kubelet has written is read, and an empty mapping is left out', async () => {
  const {at, put, records} = await aPlace();
  await put(
    'pulled',
    PULLED,
    '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1alpha1","lastUpdatedTime":"2024-10-21T12:26:40Z","imageRef":"test-brokenhash"}',
  );
  expect(await records.readPulled('test-brokenhash')).toEqual({...RECORD, credentialMapping: {}});
  await records.updatePulled('test-brokenhash', (record) => record);
  expect(await readFile(at('pulled', PULLED), 'utf8')).not.toContain('credentialMapping');
});

test.each(['{', '[]', '{"kind":"Pod","apiVersion":"v1"}', '{"kind":"ImagePulledRecord","apiVersion":"v9"}'])(
  'a record %s is an error when read, and none when replaced',
  async (text) => {
    const {put, records} = await aPlace();
    await put('pulled', PULLED, text);
    await expect(records.readPulled('test-brokenhash')).rejects.toThrow('no ImagePulledRecord');
    await records.updatePulled('test-brokenhash', (before) => (before === undefined ? RECORD : undefined));
    expect(await records.readPulled('test-brokenhash')).toEqual(RECORD);
  },
);

test('a record under another image’s name is none', async () => {
  const {put, records} = await aPlace();
  const other = {
    kind: 'ImagePulledRecord',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    ...RECORD,
    imageRef: 'x',
  };
  await put('pulled', PULLED, JSON.stringify(other));
  expect(await records.readPulled('test-brokenhash')).toBeUndefined();
});

test('broken intents and other files hide none', async () => {
  const {put, records} = await aPlace();
  await records.writeIntent('busybox');
  await put('pulling', INTENT, '{');
  await put('pulling', `${INTENT}.tmp`, '{}');
  expect(await records.listIntents()).toEqual(['busybox']);
});

test('changes by several at once are all kept', async () => {
  const {rootDir, records} = await aPlace();
  const add = async (name: string): Promise<void> => {
    await new FilePullRecords(rootDir).updatePulled('test-brokenhash', (before = RECORD) => ({
      ...before,
      credentialMapping: {...before.credentialMapping, [name]: {nodePodsAccessible: true}},
    }));
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(add));
  const {credentialMapping = {}} = (await records.readPulled('test-brokenhash')) ?? {};
  expect(Object.keys(credentialMapping).sort()).toEqual(['a', 'b', 'c', 'd', 'docker.io/testing/test']);
});

describe('when a runtime is gone', () => {
  const aPull = async (rootDir: string, endpoint: string): Promise<FilePullRecords> => {
    const records = new FilePullRecords(rootDir, endpoint);
    const pull = await records.writeIntent('busybox');
    await records.updatePulled('test-brokenhash', () => RECORD);
    await pull[Symbol.asyncDispose]();
    return records;
  };

  test('and no other has pulled, nothing is left of its records', async () => {
    const {at, rootDir} = await aPlace();
    const gone = await aPull(rootDir, 'unix:///gone.sock');
    await gone.forgetRuntime();
    await gone.forgetRuntime();
    expect(await readdir(at())).toEqual([]);
  });

  test('records stay that may be of images of another one, until that is gone too', async () => {
    const {at, rootDir} = await aPlace();
    const [gone, other] = [
      await aPull(rootDir, 'unix:///gone.sock'),
      await aPull(rootDir, 'unix:///other.sock'),
    ];
    await gone.forgetRuntime();
    expect(await other.readPulled('test-brokenhash')).toEqual(RECORD);
    await other.forgetRuntime();
    expect(await readdir(at())).toEqual([]);
  });

  test('records stay of which nobody knows whose they are, and those that a pull is adding to', async () => {
    const {rootDir, put, records} = await aPlace();
    await put('pulled', PULLED, JSON.stringify({kind: 'ImagePulledRecord', apiVersion: VERSION, ...RECORD}));
    await new FilePullRecords(rootDir, 'unix:///gone.sock').forgetRuntime();
    expect(await records.readPulled('test-brokenhash')).toEqual(RECORD);
    const gone = new FilePullRecords(rootDir, 'unix:///gone.sock');
    const pull = await gone.writeIntent('busybox');
    await gone.forgetRuntime();
    await pull[Symbol.asyncDispose]();
    expect(await records.readPulled('test-brokenhash')).toEqual(RECORD);
    expect(await records.hasIntent('busybox')).toBe(true);
  });
});
