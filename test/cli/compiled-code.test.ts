import {execFile} from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {FakeRuntime} from '../fakes/fake-runtime.js';

/** A package with the built bundle (`npm test` builds it first), and the folder that its compiled code is kept in. */
let root: string;
const quick = () => join(root, 'dist/quick');
const cache = () => join(root, 'cache');
const kept = () => join(cache(), 'kcri');
const NOBODY = 65_534;
/** What `kcri --version` loads. */
const CHUNKS_OF_VERSION = [expect.stringMatching(/^chunk-\w+\.cjs$/), 'program.cjs'];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kcri-bundle-'));
  await chmod(root, 0o755);
  await cp('bin', join(root, 'bin'), {recursive: true});
  await cp('dist/quick', quick(), {recursive: true});
});
afterEach(() => rm(root, {recursive: true}));

interface Options {
  readonly uid?: number;
  /** Shell commands to run first. */
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

async function kcri(args: string, {uid, shell = '', env}: Options = {}) {
  const command = `${shell} exec "$0" "$1" ${args}`;
  return await promisify(execFile)('sh', ['-c', command, process.execPath, join(root, 'bin/kcri.js')], {
    ...(uid === undefined ? {} : {uid, gid: uid}),
    env: {...process.env, NODE_COMPILE_CACHE: cache(), ...env},
  });
}

async function version(options?: Options): Promise<string> {
  const {stdout, stderr} = await kcri('--version', options);
  expect(stderr).toBe('');
  return stdout;
}

/** The folder for this bundle and Node.js. */
async function keptFolder(): Promise<string> {
  const [build = ''] = await readdir(kept());
  expect(build).toMatch(new RegExp(`^\\w{16}-${process.version}-${process.arch}$`));
  return join(kept(), build);
}

/** The larger of the two files that `kcri --version` needs. */
async function keptFile(): Promise<string> {
  const files = (await readdir(await keptFolder())).sort();
  expect(files).toEqual(CHUNKS_OF_VERSION);
  return join(await keptFolder(), files[0] ?? '');
}

/** Whether a run has written the file again. */
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
])('a kept file that is %s is replaced', async (_, spoil) => {
  await version();
  const file = await keptFile();
  const {length} = await readFile(file);
  await spoil(file);
  expect(await version()).toMatch(/^kcri version v/);
  // V8 doesn't always write the same.
  expect((await readFile(file)).length / length).toBeCloseTo(1, 2);
});

test('a successful command keeps what it loaded, and adds to what others kept of shared chunks', async () => {
  await using runtime = await FakeRuntime.start();
  const env = {CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
  await expect(kcri('version --bogus', {env})).rejects.toThrow('unknown flag: --bogus');
  expect(await readdir(root)).not.toContain('cache');
  await kcri('version', {env});
  const commands = async () => {
    const files = await readdir(await keptFolder());
    return files.map((name) => name.replace(/[-.].*/, '')).filter((name) => name !== 'chunk');
  };
  const shared = async () => {
    const files = (await readdir(await keptFolder())).filter((name) => name.startsWith('chunk-'));
    const sizes = await Promise.all(
      files.map(async (name) => (await stat(join(await keptFolder(), name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  expect(await commands()).toEqual(['cri', 'program', 'version']);
  const before = await shared();
  await kcri('images', {env});
  expect(await commands()).toEqual(['cri', 'images', 'program', 'version']);
  expect(await shared()).toBeGreaterThan(before * 1.05);
});

test('many first runs at once succeed and leave one file for each chunk', async () => {
  const texts = await Promise.all(Array.from({length: 8}, () => version()));
  expect(new Set(texts).size).toBe(1);
  expect(await isRemade(await keptFile())).toBe(false);
});

/** Reports the order of two calls of node:fs; to be loaded before kcri. */
const REPORT_CALLS = `const fs = require('node:fs'); for (const name of ['fsyncSync', 'renameSync']) {
  const own = fs[name];
  fs[name] = (...args) => { fs.writeSync(2, name + ' '); return own(...args); };
}`;

describe('a first run that ends early does no harm to later ones', () => {
  const preload = async (name: string, source: string) => {
    await writeFile(join(root, name), source);
    return {NODE_OPTIONS: `--require=${join(root, name)}`};
  };

  test('compiled code is on the disk before it has its name: V8 would crash on half of it', async () => {
    const {stderr} = await kcri('--version', {env: await preload('report.cjs', REPORT_CALLS)});
    expect(stderr).toBe('fsyncSync renameSync '.repeat(CHUNKS_OF_VERSION.length));
  });

  test('a process with the pid of one that was killed can keep compiled code', async () => {
    const pid = `const {kill, pid} = process; Object.defineProperty(process, 'pid', {value: 7});`;
    const killed = `${pid} require('node:fs').renameSync = () => kill.call(process, pid, 'SIGKILL');`;
    await expect(kcri('--version', {env: await preload('killed.cjs', killed)})).rejects.toThrow();
    expect(await readdir(await keptFolder())).toHaveLength(1);
    await kcri('--version', {env: await preload('same.cjs', pid)});
    expect(await readdir(await keptFolder())).toContain('program.cjs');
  });
});

describe('kcri runs where nothing can be kept', () => {
  test('a file is in the way', async () => {
    await writeFile(cache(), 'in the way');
    expect(await version()).toMatch(/^kcri version v/);
    expect(await readFile(cache(), 'utf8')).toBe('in the way');
  });

  test('the disk is full, and no incomplete file is left', async () => {
    // Blocks of 512 bytes; what goes beyond fails as on a full disk.
    expect(await version({shell: 'ulimit -f 16;'})).toMatch(/^kcri version v/);
    expect((await readdir(await keptFolder())).filter((name) => !name.endsWith('.cjs'))).toEqual([]);
  });

  test('the user has no home', async () => {
    const env = {NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: undefined, HOME: undefined};
    expect(await version({uid: NOBODY, env})).toMatch(/^kcri version v/);
  });
});

describe('the folder that compiled code is kept in', () => {
  const home = () => join(root, 'home');
  /** Runs kcri as a user with a home. */
  const asUser = async (env: Options['env']) => {
    await mkdir(home());
    await chown(home(), NOBODY, NOBODY);
    const none = {NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: undefined, HOME: home()};
    return await version({uid: NOBODY, env: {...none, ...env}});
  };

  test("a user's is in ~/.cache", async () => {
    await asUser({});
    expect(await readdir(join(home(), '.cache/kcri'))).toHaveLength(1);
  });

  test('or in XDG_CACHE_HOME', async () => {
    await asUser({XDG_CACHE_HOME: join(home(), 'elsewhere')});
    expect(await readdir(join(home(), 'elsewhere/kcri'))).toHaveLength(1);
    expect(await readdir(home())).toEqual(['elsewhere']);
  });

  test("root's is never in a home, which sudo may leave another user's", async () => {
    await mkdir(home());
    const env = {NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: join(home(), 'cache'), HOME: home()};
    await version({env});
    expect(await readdir(home())).toEqual([]);
    const [build = ''] = await readdir('/var/cache/kcri');
    expect(build).toMatch(/^\w{16}-v/);
  });

  test('NODE_DISABLE_COMPILE_CACHE keeps nothing', async () => {
    await version({env: {NODE_DISABLE_COMPILE_CACHE: '1'}});
    expect(await readdir(root)).not.toContain('cache');
  });

  test('builds that were not kept for 30 days are removed from it', async () => {
    const days = (count: number) => new Date(Date.now() - count * 24 * 3600 * 1000);
    for (const [name, age] of [
      ['old', 31],
      ['recent', 29],
    ] as const) {
      await mkdir(join(kept(), name), {recursive: true});
      await utimes(join(kept(), name), days(age), days(age));
    }
    await version();
    expect((await readdir(kept())).filter((name) => !name.includes('-'))).toEqual(['recent']);
  });

  test('the package is left as it is', async () => {
    const before = await readdir(root, {recursive: true});
    await version();
    const after = await readdir(root, {recursive: true});
    expect(after.filter((path) => !path.startsWith('cache')).sort()).toEqual(before.sort());
  });
});

/** Compiled code can do anything: whoever could change it could make root do anything. */
describe('compiled code is as safe as the program', () => {
  test('only its owner can read or write what is kept, whatever the umask', async () => {
    await version({shell: 'umask 0;'});
    const file = await keptFile();
    for (const path of [kept(), join(file, '..'), file])
      expect((await stat(path)).mode & 0o077, path).toBe(0);
  });

  test.each([
    ['of another user', (file: string) => chown(file, NOBODY, NOBODY)],
    ['that others may write', (file: string) => chmod(file, 0o646)],
    ['that a group may write', (file: string) => chmod(file, 0o664)],
  ])('a file %s is not used', async (_, spoil) => {
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
});
