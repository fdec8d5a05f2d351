import {chmod, mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {
  fileError,
  isTemporaryFileOf,
  makeDirectories,
  withUserFileHints,
  validatePathSegment,
  writeFileAtomicWithoutSync,
  writeFileAtomic,
} from '../../../src/base/fs/files.js';
import {temporaryDirectory} from '../temporary-directory.js';

async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o7777;
}

function withUmask(mask: number): void {
  const before = process.umask(mask);
  onTestFinished(() => {
    process.umask(before);
  });
}

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

test('a temporary file left by a killed write is recognized by its name', () => {
  expect(isTemporaryFileOf('/x/file', '.file.0a1b2c3d4e5f.tmp')).toBe(true);
  expect(isTemporaryFileOf('/x/file', '.file2.0a1b2c3d4e5f.tmp')).toBe(false);
  expect(isTemporaryFileOf('/x/file', 'file')).toBe(false);
});

test('new directories get exactly the given mode, and existing ones keep theirs', async () => {
  withUmask(0o077);
  const parent = join(await temporaryDirectory(), 'a');
  await mkdir(parent, {mode: 0o700});
  const child = join(parent, 'b');
  await makeDirectories([
    {path: parent, mode: 0o755},
    {path: child, mode: 0o777},
  ]);
  expect([await mode(parent), await mode(child)]).toEqual([0o700, 0o777]);
});

test('if one directory cannot be created, those created before it are removed', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'file'), '');
  const broken = join(directory, 'file', 'c');
  const made = makeDirectories(
    [join(directory, 'a'), join(directory, 'a/b'), broken].map((path) => ({path, mode: 0o750})),
  );
  await expect(made).rejects.toThrow(`creating the directory "${broken}": not a directory`);
  expect(await readdir(directory)).toEqual(['file']);
});

test('creating directories is idempotent', async () => {
  const path = join(await temporaryDirectory(), 'a');
  await makeDirectories([{path, mode: 0o750}]);
  await chmod(path, 0o700);
  await makeDirectories([{path, mode: 0o750}]);
  expect(await mode(path)).toBe(0o700);
});

test.each(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR'])(
  'after %s on a file given by the user, the hint does not mention --root-dir',
  async (code) => {
    const failing = withUserFileHints(async () => {
      throw fileError('writing', '/x', Object.assign(new Error('text'), {code}));
    });
    await expect(failing).rejects.toMatchObject({hint: expect.not.stringContaining('--root-dir') as unknown});
  },
);

test.each([
  ['ENOSPC', -28, 'writing "/x": no space left on device', 'free some space'],
  ['EROFS', -30, 'writing "/x": read-only file system', 'writable file system'],
  ['EACCES', -13, 'writing "/x": permission denied', 'run as root'],
])('%s becomes an error with a hint', (code, errno, message, hint) => {
  const error = fileError('writing', '/x', Object.assign(new Error(`${code}: text`), {code, errno}));
  expect(error).toBeInstanceOf(SystemError);
  expect(error.message).toBe(message);
  expect(error.hint).toContain(hint);
});

test('a KcriError is returned unchanged', () => {
  const error = new SystemError('the disk is made of cheese');
  expect(fileError('writing', '/x', error)).toBe(error);
});

test.each(['web', 'a.b-c_D', '0f3c', 'x'.repeat(255)])('%s is a valid file name', (value) => {
  expect(validatePathSegment('pod UID', value)).toBe(value);
});

test.each(['', '.', '..', '../x', 'a/b', '.hidden', '-rf', 'a\0b', 'a b', 'x'.repeat(256), 'ü'])(
  '%j is not a valid file name',
  (value) => {
    expect(() => validatePathSegment('pod UID', value)).toThrow(
      `the pod UID ${JSON.stringify(value)} cannot be a file name`,
    );
  },
);
