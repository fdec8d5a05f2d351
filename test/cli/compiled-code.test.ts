import {execFile} from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {FakeRuntime} from '../fakes/fake-runtime.js';

/** A package with the built bundle, which keeps what V8 made of it beside itself; `npm test` builds it first. */
let root: string;
const quick = () => join(root, 'dist/quick');
const compiled = () => join(quick(), 'compiled');
const NOBODY = 65_534;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kcri-bundle-'));
  await chmod(root, 0o755);
  await cp('bin', join(root, 'bin'), {recursive: true});
  await cp('dist/quick', quick(), {recursive: true, filter: (path) => !path.endsWith('/compiled')});
});
afterEach(() => rm(root, {recursive: true}));

interface Options {
  readonly uid?: number;
  /** Runs it after these, as a shell does. */
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function kcri(args: string, {uid, shell = '', env}: Options = {}) {
  const command = `${shell} exec "$0" "$1" ${args}`;
  return await promisify(execFile)('sh', ['-c', command, process.execPath, join(root, 'bin/kcri.js')], {
    ...(uid === undefined ? {} : {uid, gid: uid}),
    env: {...process.env, ...env},
  });
}

async function version(options?: Options): Promise<string> {
  const {stdout, stderr} = await kcri('--version', options);
  expect(stderr).toBe('');
  return stdout;
}

/** The one file that this command needs. */
async function keptFile(): Promise<string> {
  const [build = ''] = await readdir(compiled());
  expect(await readdir(join(compiled(), build))).toEqual(['start']);
  return join(compiled(), build, 'start');
}

/** Whether a run has made the file anew. */
async function isRemade(file: string): Promise<boolean> {
  const {ino: before} = await stat(file);
  expect(await version()).toMatch(/^kcri version v/);
  return (await stat(await keptFile())).ino !== before;
}

test('the first run keeps compiled code, and the next one leaves it', async () => {
  expect(await version()).toMatch(/^kcri version v/);
  expect(await isRemade(await keptFile())).toBe(false);
});

test.each([
  ['cut off', (file: string) => truncate(file, 1000)],
  ['empty', (file: string) => truncate(file)],
  ["another program's", (file: string) => writeFile(file, 'x'.repeat(500_000))],
])('what was kept and is %s is made anew', async (_, spoil) => {
  await version();
  const file = await keptFile();
  const {length} = await readFile(file);
  await spoil(file);
  expect(await version()).toMatch(/^kcri version v/);
  // V8 doesn't always write the same.
  expect((await readFile(file)).length / length).toBeCloseTo(1, 2);
});

test('each command keeps what it needed itself, once it did what it was asked to', async () => {
  await using runtime = await FakeRuntime.start();
  const env = {CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
  await expect(kcri('version --bogus', {env})).rejects.toThrow('flag provided but not defined');
  expect(await readdir(quick())).not.toContain('compiled');
  await kcri('version', {env});
  const [build = ''] = await readdir(compiled());
  const kept = async () => (await readdir(join(compiled(), build))).map((name) => name.replace(/-.*/, ''));
  expect(await kept()).toEqual(['start', 'version']);
  await kcri('images', {env});
  expect(await kept()).toEqual(['images', 'start', 'version']);
});

test('many first runs at once each do what they are asked to, and leave one file', async () => {
  const texts = await Promise.all(Array.from({length: 8}, () => version()));
  expect(new Set(texts).size).toBe(1);
  expect(await isRemade(await keptFile())).toBe(false);
});

/** Loaded before kcri, in place of what node:fs has: says in which order things are done. */
const TOLD = `const fs = require('node:fs'); for (const name of ['fsyncSync', 'renameSync']) {
  const own = fs[name];
  fs[name] = (...args) => { fs.writeSync(2, name + ' '); return own(...args); };
}`;

describe('what ends a first run early does no harm to later ones', () => {
  const preload = async (name: string, source: string) => {
    await writeFile(join(root, name), source);
    return {NODE_OPTIONS: `--require=${join(root, name)}`};
  };

  test('compiled code is on the disk before it has its name: V8 would crash on half of it', async () => {
    const {stderr} = await kcri('--version', {env: await preload('told.cjs', TOLD)});
    expect(stderr).toBe('fsyncSync renameSync ');
  });

  test('a process that was killed does not keep one of the same id from keeping it', async () => {
    const pid = `const {kill, pid} = process; Object.defineProperty(process, 'pid', {value: 7});`;
    const killed = `${pid} require('node:fs').renameSync = () => kill.call(process, pid, 'SIGKILL');`;
    await expect(kcri('--version', {env: await preload('killed.cjs', killed)})).rejects.toThrow();
    const [build = ''] = await readdir(compiled());
    expect(await readdir(join(compiled(), build))).toHaveLength(1);
    await kcri('--version', {env: await preload('same.cjs', pid)});
    expect(await readdir(join(compiled(), build))).toContain('start');
  });
});

describe('where nothing can be kept it runs all the same', () => {
  test('a file is in the way', async () => {
    await writeFile(compiled(), 'in the way');
    expect(await version()).toMatch(/^kcri version v/);
    expect(await readFile(compiled(), 'utf8')).toBe('in the way');
  });

  test('there is no room for it, and nothing is left of the attempt', async () => {
    // Blocks of 512 bytes; what goes beyond fails as on a full disk.
    expect(await version({shell: 'ulimit -f 16;'})).toMatch(/^kcri version v/);
    const [build = ''] = await readdir(compiled());
    expect(await readdir(join(compiled(), build))).toEqual([]);
  });
});

/** Compiled code does what it likes: whoever could change it could make root do anything. */
describe('compiled code is as safe as the program', () => {
  test('only its owner can write what is kept, whatever the umask', async () => {
    await version({shell: 'umask 0;'});
    const file = await keptFile();
    for (const path of [compiled(), join(file, '..'), file])
      expect((await stat(path)).mode & 0o022, path).toBe(0);
  });

  test('who does not own the program keeps nothing, even where that could be written', async () => {
    await chmod(quick(), 0o777);
    expect(await version({uid: NOBODY})).toMatch(/^kcri version v/);
    expect(await readdir(quick())).not.toContain('compiled');
  });

  test.each([
    ["is another user's", (file: string) => chown(file, NOBODY, NOBODY)],
    ['others may write', (file: string) => chmod(file, 0o646)],
    ['a group may write', (file: string) => chmod(file, 0o664)],
  ])('what %s is not used', async (_, spoil) => {
    await version();
    const file = await keptFile();
    await spoil(file);
    expect(await isRemade(file)).toBe(true);
    expect(await isRemade(file)).toBe(false);
  });

  test('nothing is written through a link', async () => {
    await version();
    const file = await keptFile();
    const elsewhere = join(root, 'elsewhere');
    await writeFile(elsewhere, 'precious');
    await rm(file);
    await symlink(elsewhere, file);
    await version();
    expect(await readFile(elsewhere, 'utf8')).toBe('precious');
    expect((await lstat(file)).isFile()).toBe(true);
  });

  test("a user's own program keeps its own, which root does not write", async () => {
    await promisify(execFile)('chown', ['-R', `${NOBODY}:${NOBODY}`, root]);
    expect(await version()).toMatch(/^kcri version v/);
    expect(await readdir(quick())).not.toContain('compiled');
    expect(await version({uid: NOBODY})).toMatch(/^kcri version v/);
    expect((await stat(await keptFile())).uid).toBe(NOBODY);
    expect(await isRemade(await keptFile())).toBe(false);
  });
});
