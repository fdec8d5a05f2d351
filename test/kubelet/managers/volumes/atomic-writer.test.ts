import {lstat, mkdir, readdir, readFile, readlink, rename, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {
  isUpToDate,
  writeAtomically,
  type Payload,
} from '../../../../src/kubelet/managers/volumes/atomic-writer.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const NOW = Date.UTC(2026, 0, 31, 23, 59, 58);

function files(contents: Readonly<Record<string, string>>, mode = 0o644): Payload {
  return new Map(Object.entries(contents).map(([path, text]) => [path, {data: Buffer.from(text), mode}]));
}

async function write(
  directory: string,
  payload: Payload,
  setOwnership: () => Promise<void> = async () => undefined,
): Promise<void> {
  await writeAtomically(directory, payload, {now: NOW, setOwnership});
}

/** Reads the files that a consumer of the volume sees, by path. */
async function content(directory: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(directory)).filter((name) => !name.startsWith('..'));
  const entries = names.map(async (name) => {
    const path = join(directory, name);
    if (!(await stat(path)).isDirectory()) return {[name]: await readFile(path, 'utf8')};
    const inner = await content(path);
    return Object.fromEntries(Object.entries(inner).map(([below, text]) => [`${name}/${below}`, text]));
  });
  return Object.assign({}, ...(await Promise.all(entries))) as Readonly<Record<string, string>>;
}

async function version(directory: string): Promise<string> {
  return await readlink(join(directory, '..data'));
}

test('files are symbolic links through ..data into a timestamped directory', async () => {
  const directory = await temporaryDirectory();
  await write(directory, files({a: '1', 'b/c': '2', 'b/d/e': '3'}));
  expect(await version(directory)).toMatch(/^\.\.2026_01_31_23_59_58\.\d+$/);
  expect((await readdir(directory)).sort()).toEqual([await version(directory), '..data', 'a', 'b'].sort());
  expect(await readlink(join(directory, 'a'))).toBe('..data/a');
  expect(await readlink(join(directory, 'b'))).toBe('..data/b');
  expect(await content(directory)).toEqual({a: '1', 'b/c': '2', 'b/d/e': '3'});
});

/** Changing the owner of files requires root. */
test.skipIf(process.getuid?.() !== 0)('a file with an owner belongs to it, and its group stays', async () => {
  const directory = await temporaryDirectory();
  await write(directory, new Map([['token', {data: Buffer.from('x'), mode: 0o600, owner: 4242}]]));
  const {uid, gid} = await stat(join(directory, 'token'));
  expect([uid, gid]).toEqual([4242, (await stat(directory)).gid]);
});

test('files have exactly the given mode and directories 0755, regardless of the umask', async () => {
  const before = process.umask(0o077);
  onTestFinished(() => void process.umask(before));
  const directory = await temporaryDirectory();
  const payload = new Map([...files({secret: 's'}, 0o400), ...files({'d/open': 'o'}, 0o666)]);
  await write(directory, payload);
  const mode = async (name: string): Promise<number> => (await stat(join(directory, name))).mode & 0o7777;
  expect(await mode('secret')).toBe(0o400);
  expect(await mode('d/open')).toBe(0o666);
  expect(await mode('d')).toBe(0o755);
  expect(await mode('..data')).toBe(0o755);
});

test.each([
  ['nothing has changed', files({a: '1', 'b/c': '2'})],
  ['only a mode has changed', files({a: '1', 'b/c': '2'}, 0o600)],
])('nothing is written if %s', async (_title, payload) => {
  const directory = await temporaryDirectory();
  await write(directory, files({a: '1', 'b/c': '2'}));
  const before = await version(directory);
  expect(await isUpToDate(directory, payload)).toBe(true);
  await write(directory, payload, async () => {
    throw new Error('nothing is written');
  });
  expect(await version(directory)).toBe(before);
});

test.each([
  ['a changed file', {a: '2', 'b/c': '2'}],
  ['an added file', {a: '1', 'b/c': '2', d: ''}],
  ['a removed file', {a: '1'}],
  ['a file replaced in the same directory', {a: '1', 'b/x': '2'}],
  ['a directory in place of a file', {'a/b': '1', 'b/c': '2'}],
  ['a file in place of a directory', {a: '1', b: '2'}],
  ['an empty payload', {}],
])('%s creates a new version, and nothing remains of the old one', async (_title, contents) => {
  const directory = await temporaryDirectory();
  await write(directory, files({a: '1', 'b/c': '2'}));
  const before = await version(directory);
  expect(await isUpToDate(directory, files(contents))).toBe(false);
  await write(directory, files(contents));
  expect(await version(directory)).not.toBe(before);
  expect(await content(directory)).toEqual(contents);
  expect((await readdir(directory)).filter((name) => name.startsWith('..'))).toHaveLength(2);
});

test('the new version is complete and its ownership set before it becomes visible', async () => {
  const directory = await temporaryDirectory();
  await write(directory, files({a: 'old', b: 'old'}));
  const observed: unknown[] = [];
  await write(directory, files({a: 'new', b: 'new'}), async () => {
    const versions = (await readdir(directory)).filter((name) => /^\.\.\d/.test(name));
    const fresh = versions.find((name) => name !== observed[0]) ?? '';
    observed.push(await content(directory), versions.length, await readdir(join(directory, fresh)));
  });
  expect(observed).toEqual([{a: 'old', b: 'old'}, 2, ['a', 'b']]);
  expect(await content(directory)).toEqual({a: 'new', b: 'new'});
});

test('a failed write keeps the old version and leaves nothing else behind', async () => {
  const directory = await temporaryDirectory();
  await write(directory, files({a: 'old'}));
  const failing = write(directory, files({a: 'new', b: 'new'}), async () => {
    throw new Error('the owner can not be set');
  });
  await expect(failing).rejects.toThrow('the owner can not be set');
  expect((await readdir(directory)).sort()).toEqual([await version(directory), '..data', 'a'].sort());
  expect(await content(directory)).toEqual({a: 'old'});
});

test('an open file of the old version stays readable', async () => {
  const directory = await temporaryDirectory();
  await write(directory, files({a: 'old'}));
  const {open} = await import('node:fs/promises');
  const file = await open(join(directory, 'a'));
  onTestFinished(() => file.close());
  await write(directory, files({a: 'new'}));
  expect(await file.readFile('utf8')).toBe('old');
});

describe('after a kill, the next write removes', () => {
  test('an unused version and a temporary link', async () => {
    const directory = await temporaryDirectory();
    await write(directory, files({a: '1'}));
    await mkdir(join(directory, '..2026_01_01_00_00_00.abcdef'));
    await symlink('..2026_01_01_00_00_00.abcdef', join(directory, '..data_tmp'));
    await write(directory, files({a: '2'}));
    expect((await readdir(directory)).sort()).toEqual([await version(directory), '..data', 'a'].sort());
  });

  test('links of removed files and restores missing ones, even if the files are up to date', async () => {
    const directory = await temporaryDirectory();
    await write(directory, files({a: '1'}));
    await rename(join(directory, 'a'), join(directory, 'gone'));
    await symlink('..data/old', join(directory, 'old'));
    await write(directory, files({a: '1'}));
    expect((await readdir(directory)).filter((name) => !name.startsWith('..')).sort()).toEqual(['a', 'gone']);
  });
});

test('mount points and links to other places are kept', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'mount/point'), {recursive: true});
  await symlink('/etc', join(directory, 'elsewhere'));
  await write(directory, files({a: '1', 'mount/file': '2'}));
  await write(directory, files({a: '2'}));
  expect((await lstat(join(directory, 'mount'))).isDirectory()).toBe(true);
  expect(await readlink(join(directory, 'elsewhere'))).toBe('/etc');
});

describe('a symbolic link planted by a container', () => {
  test('in place of ..data is not followed, and its target is not removed', async () => {
    const directory = await temporaryDirectory();
    const outside = await temporaryDirectory();
    await writeFile(join(outside, 'a'), '1');
    await symlink(outside, join(directory, '..data'));
    await write(directory, files({a: '1'}));
    expect(await version(directory)).toMatch(/^\.\.2026/);
    expect(await readdir(outside)).toEqual(['a']);
  });

  test('in place of a version or a file is replaced', async () => {
    const directory = await temporaryDirectory();
    const outside = await temporaryDirectory();
    await writeFile(join(outside, 'a'), '1');
    await symlink(outside, join(directory, '..2026_01_01_00_00_00.abcdef'));
    await symlink('..2026_01_01_00_00_00.abcdef', join(directory, '..data'));
    await write(directory, files({a: '1'}));
    const first = await version(directory);
    await mkdir(join(directory, first), {recursive: true});
    await rename(join(directory, first, 'a'), join(outside, 'moved'));
    await symlink(join(outside, 'a'), join(directory, first, 'a'));
    await write(directory, files({a: '1'}));
    expect(await version(directory)).not.toBe(first);
    expect((await lstat(join(directory, '..data/a'))).isFile()).toBe(true);
    expect((await readdir(outside)).sort()).toEqual(['a', 'moved']);
  });
});

test.each([
  ['', 'invalid path: must not be empty: ""'],
  ['/etc/passwd', 'invalid path: must be relative path: /etc/passwd'],
  ['a/../../b', "invalid path: must not contain '..': a/../../b"],
  ['..', "invalid path: must not contain '..': .."],
  ['..data', "invalid path: must not start with '..': ..data"],
  ['x'.repeat(256), 'invalid path: filenames must be less than or equal to 255 characters'],
  ['x/'.repeat(2049), 'invalid path: must be less than or equal to 4096 characters'],
])('the path %j is rejected and nothing is written', async (path, message) => {
  const directory = await temporaryDirectory();
  await expect(write(directory, files({good: '1', [path]: '2'}))).rejects.toThrow(message);
  expect(await readdir(directory)).toEqual([]);
});

test('a path may start with two dots below the root', async () => {
  const directory = await temporaryDirectory();
  await write(directory, files({'a/..b': '1', './c//d': '2'}));
  expect(await readFile(join(directory, 'a/..b'), 'utf8')).toBe('1');
  expect(await readFile(join(directory, 'c/d'), 'utf8')).toBe('2');
});
