import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {FilePullRecordsAccessor} from '../../../src/kubelet/managers/images/pull-manager/pull-records-accessor.js';
import type {ImagePulledRecord} from '../../../src/kubelet/managers/images/pull-manager/image-pulled-record.js';
import {PlannedPullRecords} from '../../../src/kubelet/plan/planned-pull-records.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const aRecord = (imageRef: string): ImagePulledRecord => ({
  lastUpdatedTime: '2026-05-01T12:00:00Z',
  imageRef,
  credentialMapping: {'r.example/app': {nodePodsAccessible: true}},
});

test('a plan reads existing records and its own planned updates', async () => {
  const rootDir = await temporaryDirectory();
  const real = new FilePullRecordsAccessor(rootDir);
  await real.updatePulled('sha256:1', () => aRecord('sha256:1'));
  const pulled = await real.writeIntent('r.example/left:1');
  await pulled[Symbol.asyncDispose]();
  await real.writeIntent('r.example/under-way:1');
  const planned = new PlannedPullRecords(rootDir);
  expect(await planned.readPulled('sha256:1')).toEqual(aRecord('sha256:1'));
  const recovered: string[] = [];
  await planned.recoverIntents((images) => {
    recovered.push(...images);
    return Promise.resolve(images);
  });
  expect([recovered, await planned.hasIntent('r.example/left:1')]).toEqual([['r.example/left:1'], true]);
  await planned.updatePulled('sha256:2', () => aRecord('sha256:2'));
  await planned.updatePulled('sha256:2', () => undefined);
  expect(await planned.readPulled('sha256:2')).toEqual(aRecord('sha256:2'));
});

test('a plan neither writes nor removes records', async () => {
  const rootDir = await temporaryDirectory();
  const planned = new PlannedPullRecords(rootDir);
  await planned.writeIntent();
  await planned.deleteIntent();
  await planned.updatePulled('sha256:2', () => aRecord('sha256:2'));
  expect(await readdir(rootDir)).toEqual([]);
});

test('an offline plan reads no records', async () => {
  const rootDir = await temporaryDirectory();
  // A file in place of the directory would make reading it fail.
  await writeFile(join(rootDir, 'image_manager'), '');
  const planned = new PlannedPullRecords(rootDir, true);
  await planned.recoverIntents(() => Promise.reject(new Error('found an intent')));
  expect(await planned.hasIntent('r.example/app:1')).toBe(false);
  expect(await planned.readPulled('sha256:1')).toBeUndefined();
});
