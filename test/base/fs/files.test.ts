import {chmod, mkdir, readdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {
  fileError,
  makeDirectories,
  withUserFileHints,
  validatePathSegment,
} from '../../../src/base/fs/files.js';
import {mode, withUmask} from '../file-mode.js';
import {countFileRequests} from '../count-file-requests.js';
import {temporaryDirectory} from '../temporary-directory.js';

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

test('each new directory takes one call, and so does one whose parent was there before', async () => {
  withUmask(0);
  const parent = join(await temporaryDirectory(), 'a');
  const make = async (...names: readonly string[]): Promise<number> => {
    using requests = countFileRequests();
    await makeDirectories(
      [parent, ...names.map((name) => join(parent, name))].map((path) => ({path, mode: 0o755})),
    );
    return requests.count;
  };
  expect(await make('b', 'c')).toBe(3);
  expect(await make('b', 'd')).toBe(2);
  await rm(parent, {recursive: true});
  // An attempt that shows that the parent is missing, the parent and the directory.
  expect(await make('b')).toBe(3);
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
  ['EROFS', -30, 'writing "/x": read-only file system', 'writable filesystem'],
  ['EACCES', -13, 'writing "/x": permission denied', 'set --root-dir to a directory that you can write to'],
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
