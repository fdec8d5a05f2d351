import type * as FsPromises from 'node:fs/promises';
import {existsSync} from 'node:fs';
import {chmod, mkdir, rename, stat, symlink, writeFile} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {expect, test, vi} from 'vitest';
import {makeDirectoryPath} from '../../../src/base/fs/make-directory-path.js';
import {temporaryDirectory} from '../temporary-directory.js';

// Hook for changes that others make between two calls.
vi.mock('node:fs/promises', async (load) => {
  const original = await load<typeof FsPromises>();
  return {...original, mkdir: vi.fn(original.mkdir)};
});

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;

/** Calls `act` before or right after the directory of that name is created. */
function whenMaking(name: string, when: 'before' | 'after', act: () => Promise<void>): void {
  const original = vi.mocked(mkdir).getMockImplementation()!;
  vi.mocked(mkdir).mockImplementation(async (path, options) => {
    const isIt = basename(String(path)) === name;
    if (isIt) vi.mocked(mkdir).mockImplementation(original);
    if (isIt && when === 'before') await act();
    await original(path, options);
    if (isIt && when === 'after') await act();
    return undefined;
  });
}

test('missing directories are created with exactly the given mode, also behind a link, and existing ones are unchanged', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'there'), {mode: 0o711});
  await symlink('there', join(directory, 'link'));
  await makeDirectoryPath(join(directory, 'link/a/b'), 0o2775);
  expect(
    await Promise.all(['there', 'there/a', 'there/a/b'].map((path) => modeOf(join(directory, path)))),
  ).toEqual([0o711, 0o2775, 0o2775]);
});

test('if one directory cannot be created, those created before it are removed', async () => {
  const directory = await temporaryDirectory();
  whenMaking('b', 'before', () => writeFile(join(directory, 'a/b'), ''));
  await expect(makeDirectoryPath(join(directory, 'a/b/c'), 0o755)).rejects.toThrow(
    `creating the directory "${directory}/a/b/c": not a directory`,
  );
  await expect(makeDirectoryPath(join(directory, `x/${'y'.repeat(256)}`), 0o755)).rejects.toThrow(
    'name too long',
  );
  expect(existsSync(join(directory, 'x'))).toBe(false);
});

test.each(['before', 'after'] as const)(
  'a link that replaces a path component %s a directory below it is created is not followed',
  async (when) => {
    const directory = await temporaryDirectory();
    const at = (path: string): string => join(directory, path);
    await mkdir(at('shared'));
    await mkdir(at('outside/deep'), {recursive: true});
    await chmod(at('outside/deep'), 0o700);
    whenMaking('deep', when, async () => {
      await rename(at('shared/new'), at('shared/aside'));
      await symlink(at('outside'), at('shared/new'));
    });
    await makeDirectoryPath(at('shared/new/deep/er'), 0o755);
    expect(await modeOf(at('outside/deep'))).toBe(0o700);
    expect(existsSync(at('outside/deep/er'))).toBe(false);
    expect(existsSync(at('shared/aside/deep/er'))).toBe(true);
  },
);

test('a link in place of the directory to create is not followed', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'outside'));
  whenMaking('new', 'before', () => symlink(join(directory, 'outside'), join(directory, 'new')));
  await expect(makeDirectoryPath(join(directory, 'new/deep'), 0o755)).rejects.toThrow('not a directory');
  expect(existsSync(join(directory, 'outside/deep'))).toBe(false);
});
