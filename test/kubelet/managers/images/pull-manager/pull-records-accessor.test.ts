import {mkdir, readFile, readdir, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {FilePullRecordsAccessor} from '../../../../../src/kubelet/managers/images/pull-manager/pull-records-accessor.js';
import type {ImagePulledRecord} from '../../../../../src/kubelet/managers/images/pull-manager/image-pulled-record.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';

/** sha256 of `repo.repo/test/test:v1`, from the kubelet's tests. */
const INTENT = 'sha256-ee81caca15454863449fb55a1d942904d56d5ed9f9b20a7cb3453944ea2c7e11';
/** sha256 of `test-brokenhash`, from the kubelet's tests. */
const PULLED = 'sha256-38a8906435c4dd5f4258899d46621bfd8eea3ad6ff494ee3c2f17ef0321625bd';

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8);

async function createFixture() {
  const rootDir = await temporaryDirectory();
  const at = (...parts: readonly string[]): string => join(rootDir, 'image_manager', ...parts);
  const put = async (folder: string, name: string, text: string): Promise<void> => {
    await mkdir(at(folder), {recursive: true});
    await writeFile(at(folder, name), text);
  };
  return {rootDir, at, put, records: new FilePullRecordsAccessor(rootDir)};
}

test("an intent has the kubelet's format and is readable by root only", async () => {
  const {at, records} = await createFixture();
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

test('without a directory there are no intents and records', async () => {
  const {records} = await createFixture();
  expect(await records.listIntents()).toEqual([]);
  expect(await records.readPulled('sha256:1')).toBeUndefined();
});

const VERSION = 'kubelet.config.k8s.io/v1beta1';
const RECORD: ImagePulledRecord = {
  lastUpdatedTime: '2024-10-21T12:26:40Z',
  imageRef: 'test-brokenhash',
  credentialMapping: {'docker.io/testing/test': {nodePodsAccessible: true}},
};

test("a pulled record has the kubelet's format and is readable by root only", async () => {
  const {at, records} = await createFixture();
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

test('a record of an older kubelet is read, and an empty mapping is omitted', async () => {
  const {at, put, records} = await createFixture();
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
  'the invalid record %s is rejected when read and counts as missing when replaced',
  async (text) => {
    const {put, records} = await createFixture();
    await put('pulled', PULLED, text);
    await expect(records.readPulled('test-brokenhash')).rejects.toThrow('is not a valid ImagePulledRecord');
    await records.updatePulled('test-brokenhash', (before) => (before === undefined ? RECORD : undefined));
    expect(await records.readPulled('test-brokenhash')).toEqual(RECORD);
  },
);

test('a record in the file of another image is ignored', async () => {
  const {put, records} = await createFixture();
  const other = {
    kind: 'ImagePulledRecord',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    ...RECORD,
    imageRef: 'x',
  };
  await put('pulled', PULLED, JSON.stringify(other));
  expect(await records.readPulled('test-brokenhash')).toBeUndefined();
});

test('invalid intents and other files do not hide valid intents', async () => {
  const {put, records} = await createFixture();
  await records.writeIntent('busybox');
  await put('pulling', INTENT, '{');
  await put('pulling', `${INTENT}.tmp`, '{}');
  expect(await records.listIntents()).toEqual(['busybox']);
});

test('concurrent updates are all applied', async () => {
  const {rootDir, records} = await createFixture();
  const add = async (name: string): Promise<void> => {
    await new FilePullRecordsAccessor(rootDir).updatePulled('test-brokenhash', (before = RECORD) => ({
      ...before,
      credentialMapping: {...before.credentialMapping, [name]: {nodePodsAccessible: true}},
    }));
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(add));
  const {credentialMapping = {}} = (await records.readPulled('test-brokenhash')) ?? {};
  expect(Object.keys(credentialMapping).sort()).toEqual(['a', 'b', 'c', 'd', 'docker.io/testing/test']);
});

describe('after the removal of a runtime', () => {
  const aPull = async (rootDir: string, endpoint: string): Promise<FilePullRecordsAccessor> => {
    const records = new FilePullRecordsAccessor(rootDir, endpoint);
    const pull = await records.writeIntent('busybox');
    await records.updatePulled('test-brokenhash', () => RECORD);
    await pull[Symbol.asyncDispose]();
    return records;
  };

  test('all records are removed if no other runtime has pulled', async () => {
    const {at, rootDir} = await createFixture();
    const removed = await aPull(rootDir, 'unix:///removed.sock');
    await removed.forgetRuntime();
    await removed.forgetRuntime();
    expect(await readdir(at())).toEqual([]);
  });

  test('records stay until all other runtimes are removed too', async () => {
    const {at, rootDir} = await createFixture();
    const [removed, other] = [
      await aPull(rootDir, 'unix:///removed.sock'),
      await aPull(rootDir, 'unix:///other.sock'),
    ];
    await removed.forgetRuntime();
    expect(await other.readPulled('test-brokenhash')).toEqual(RECORD);
    await other.forgetRuntime();
    expect(await readdir(at())).toEqual([]);
  });

  test('records of an unknown runtime and of a running pull stay', async () => {
    const {rootDir, put, records} = await createFixture();
    await put('pulled', PULLED, JSON.stringify({kind: 'ImagePulledRecord', apiVersion: VERSION, ...RECORD}));
    await new FilePullRecordsAccessor(rootDir, 'unix:///removed.sock').forgetRuntime();
    expect(await records.readPulled('test-brokenhash')).toEqual(RECORD);
    const removed = new FilePullRecordsAccessor(rootDir, 'unix:///removed.sock');
    const pull = await removed.writeIntent('busybox');
    await removed.forgetRuntime();
    await pull[Symbol.asyncDispose]();
    expect(await records.readPulled('test-brokenhash')).toEqual(RECORD);
    expect(await records.hasIntent('busybox')).toBe(true);
  });
});
