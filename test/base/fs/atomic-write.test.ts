import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {
  removeAbandonedFilesBelow,
  removeAtomicFile,
  writeFileAtomic,
  writeFileAtomicWithoutSync,
} from '../../../src/base/fs/atomic-write.js';
import {ownProcessIdentity} from '../../../src/base/process-identity.js';
import {ABANDONED_FILE} from '../abandoned-file.js';
import {mode, withUmask} from '../file-mode.js';
import {temporaryDirectory} from '../temporary-directory.js';

test.each([
  ['durably', writeFileAtomic],
  ['without fsync', writeFileAtomicWithoutSync],
])('a file is replaced atomically %s, with exactly the given mode', async (_how, write) => {
  withUmask(0o077);
  const directory = await temporaryDirectory();
  const path = join(directory, 'file');
  await write(path, 'one', 0o644);
  await write(path, 'two', 0o666);
  expect(await readFile(path, 'utf8')).toBe('two');
  expect(await mode(path)).toBe(0o666);
  expect(await readdir(directory)).toEqual(['file']);
});

test('a failed replacement without fsync leaves no temporary file', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'occupied', 'sub'), {recursive: true});
  await expect(writeFileAtomicWithoutSync(join(directory, 'occupied'), 'x', 0o600)).rejects.toThrow('EISDIR');
  expect(await readdir(directory)).toEqual(['occupied']);
});

test('a failed replacement is an error with the path and leaves no temporary file', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'occupied');
  await mkdir(join(path, 'sub'), {recursive: true});
  await expect(writeFileAtomic(path, 'x', 0o600)).rejects.toThrow(
    new SystemError(`writing "${path}": illegal operation on a directory`),
  );
  expect(await readdir(directory)).toEqual(['occupied']);
});

/** Creates a directory with an abandoned file and one that this process is writing. */
async function createDirectoryWithTemporaryFiles(): Promise<{directory: string; used: string}> {
  const directory = await temporaryDirectory();
  const used = `.kcri-${await ownProcessIdentity()}.0a0a0a0a0a0a.tmp`;
  for (const name of [ABANDONED_FILE, used]) await writeFile(join(directory, name), 'half');
  return {directory, used};
}

test.each([
  ['durable', writeFileAtomic],
  ['quick', writeFileAtomicWithoutSync],
])('a %s write removes the temporary files of killed processes, not those in use', async (_how, write) => {
  const {directory, used} = await createDirectoryWithTemporaryFiles();
  await write(join(directory, 'file'), 'x', 0o600);
  expect(await readdir(directory)).toEqual([used, 'file']);
});

test('removing a file also removes the temporary files of killed processes', async () => {
  const {directory, used} = await createDirectoryWithTemporaryFiles();
  await removeAtomicFile(join(directory, 'file'));
  expect(await readdir(directory)).toEqual([used]);
  await removeAtomicFile(join(directory, 'missing', 'file'));
});

test('temporary files of killed processes are removed from subdirectories, other files stay', async () => {
  const root = await temporaryDirectory();
  await mkdir(join(root, 'records'));
  const others = ['.file.tmp', 'kcri-1@1@0.0a.tmp', '.kcri-x.0a.tmp'];
  for (const name of [...others, ABANDONED_FILE]) await writeFile(join(root, 'records', name), '');
  await removeAbandonedFilesBelow(root);
  expect(await readdir(join(root, 'records'))).toEqual(others.toSorted());
  await removeAbandonedFilesBelow(join(root, 'missing'));
});

test('a directory is forgotten with its file, and cleaned again before the next one', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'file');
  await writeFileAtomic(path, 'one', 0o600);
  await removeAtomicFile(path);
  await writeFile(join(directory, ABANDONED_FILE), '');
  await writeFileAtomic(path, 'two', 0o600);
  expect(await readdir(directory)).toEqual(['file']);
});

test('a directory is forgotten after writes in many others: those of removed pods do not add up', async () => {
  const root = await temporaryDirectory();
  const first = join(root, 'first');
  await mkdir(first);
  await writeFileAtomicWithoutSync(join(first, 'file'), 'one', 0o600);
  await writeFile(join(first, ABANDONED_FILE), '');
  for (let index = 0; index < 500; index += 1) {
    const directory = join(root, `${index}`);
    await mkdir(directory);
    await writeFileAtomicWithoutSync(join(directory, 'file'), 'x', 0o600);
  }
  await writeFileAtomicWithoutSync(join(first, 'file'), 'two', 0o600);
  expect(await readdir(first)).toEqual(['file']);
});
