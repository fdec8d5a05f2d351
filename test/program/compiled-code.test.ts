import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {beforeEach, describe, expect, test} from 'vitest';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {temporaryDirectory} from '../base/temporary-directory.js';

/** A package with the built bundle (`npm test` builds it first), and the directory of its compiled code. */
let root: string;
const quick = () => join(root, 'dist/quick');
const cache = () => join(root, 'cache');
const cacheDirectory = () => join(cache(), 'kcri');
const NOBODY = 65_534;
/** Files with the compiled code of `kcri --version`. */
const FILES_OF_VERSION = ['program.cjs'];

beforeEach(async () => {
  root = await temporaryDirectory();
  await chmod(root, 0o755);
  await cp('bin', join(root, 'bin'), {recursive: true});
  await cp('dist/quick', quick(), {recursive: true});
});

interface Options {
  readonly uid?: number;
  /** Shell commands to run before kcri. */
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly program?: string;
}

async function kcri(args: string, {uid, shell = '', env, program = join(root, 'bin/kcri.js')}: Options = {}) {
  const command = `${shell} exec "$0" "$1" ${args}`;
  return await promisify(execFile)('sh', ['-c', command, process.execPath, program], {
    ...(uid === undefined ? {} : {uid, gid: uid}),
    env: {...process.env, NODE_COMPILE_CACHE: cache(), ...env},
  });
}

async function version(options?: Options): Promise<string> {
  const {stdout, stderr} = await kcri('--version', options);
  expect(stderr).toBe('');
  return stdout;
}

/** Returns the directory for this bundle and version of Node.js, in all installations. */
async function buildDirectory(): Promise<string> {
  const [build = ''] = await readdir(cacheDirectory());
  expect(build).toMatch(new RegExp(`^\\w{16}-${process.version}-${process.arch}$`));
  return join(cacheDirectory(), build);
}

/** Returns the directory for the installation in `root`. */
async function installationDirectory(): Promise<string> {
  return join(await buildDirectory(), quick());
}

/** Returns the file with the compiled code of `kcri --version`. */
async function cachedFile(): Promise<string> {
  const files = await readdir(await installationDirectory());
  expect(files).toEqual(FILES_OF_VERSION);
  return join(await installationDirectory(), files[0] ?? '');
}

/** Returns whether another run replaces the file. */
async function isReplaced(file: string): Promise<boolean> {
  const {ino: before} = await stat(file);
  expect(await version()).toMatch(/^kcri version v/);
  return (await stat(await cachedFile())).ino !== before;
}

test('the first run stores compiled code, and the next one leaves it unchanged', async () => {
  expect(await version()).toMatch(/^kcri version v/);
  expect(await isReplaced(await cachedFile())).toBe(false);
});

test.each([
  ['truncated', (file: string) => truncate(file, 1000)],
  ['empty', (file: string) => truncate(file)],
  ['of another program', (file: string) => writeFile(file, 'x'.repeat(500_000))],
])('a stored file that is %s is replaced', async (_, modify) => {
  await version();
  const file = await cachedFile();
  const {length} = await readFile(file);
  await modify(file);
  expect(await version()).toMatch(/^kcri version v/);
  // V8's output is not deterministic.
  expect((await readFile(file)).length / length).toBeCloseTo(1, 2);
});

test('a successful command stores the code it loaded, and adds its functions to what every command loads', async () => {
  await using runtime = await FakeRuntime.start();
  const env = {CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
  await expect(kcri('version --bogus', {env})).rejects.toThrow('unknown flag: --bogus');
  expect(await readdir(root)).not.toContain('cache');
  await kcri('version', {env});
  const files = async () => {
    const names = await readdir(await installationDirectory());
    return [...new Set(names.map((name) => name.replace(/[-.].*/, '')))].sort();
  };
  const start = async () => (await stat(join(await installationDirectory(), 'program.cjs'))).size;
  expect(await files()).toEqual(['program', 'version']);
  const before = await start();
  await kcri('images', {env});
  expect(await files()).toEqual(['images', 'program', 'version']);
  await kcri('imagefsinfo --output json', {env});
  expect(await files()).toEqual(['chunk', 'imagefsinfo', 'images', 'program', 'version']);
  expect(await start()).toBeGreaterThan(before * 1.01);
});

/** Runs a kubelet without pods, and stops it when it runs. */
async function runKubelet(endpoint: string): Promise<void> {
  const [directory, config] = [join(root, 'kubelet'), join(root, 'kubelet.yaml')];
  const lines = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration'];
  await writeFile(config, [...lines, 'enableServer: false', 'healthzPort: 0', ''].join('\n'));
  const args = ['--container-runtime-endpoint', endpoint, '--root-dir', directory, '--config', config];
  const kubelet = spawn(
    process.execPath,
    [join(root, 'bin/kcri.js'), 'kubelet', ...args, '--pod-logs-dir', join(root, 'logs')],
    {
      env: {...process.env, NODE_COMPILE_CACHE: cache()},
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const exited = once(kubelet, 'exit');
  let log = '';
  for await (const text of kubelet.stderr.setEncoding('utf8')) {
    log += String(text);
    // A second signal would end it at once.
    if (!kubelet.killed && log.includes('Starting kubelet main sync loop')) kubelet.kill('SIGTERM');
  }
  expect(await exited, log).toEqual([0, null]);
}

test('the compiled code that a kubelet stores is valid for other runs', async () => {
  await using runtime = await FakeRuntime.start();
  await runKubelet(runtime.endpoint);
  const start = async () => (await stat(join(await installationDirectory(), 'program.cjs'))).ino;
  const stored = await start();
  await version();
  expect(await start()).toBe(stored);
});

describe('two installations of the same build', () => {
  const other = () => join(root, 'other');
  const otherVersion = async (args = '--version') =>
    await kcri(args, {program: join(other(), 'bin/kcri.js')});

  beforeEach(async () => {
    await cp(join(root, 'bin'), join(other(), 'bin'), {recursive: true});
    await cp(quick(), join(other(), 'dist/quick'), {recursive: true});
  });

  test('show their own paths in stack traces', async () => {
    await version();
    await otherVersion();
    const stack = async () =>
      await otherVersion('--debug version --bogus').then(
        () => '',
        (error: unknown) => (error as {readonly stderr: string}).stderr,
      );
    expect(await stack()).toContain(`${other()}/dist/quick/program.cjs`);
    expect(await stack()).not.toContain(quick());
  });

  test('store code of their own, and neither makes the other compile again', async () => {
    await version();
    const file = await cachedFile();
    await otherVersion();
    expect(await isReplaced(file)).toBe(false);
    const paths = await readdir(await buildDirectory(), {recursive: true});
    expect(paths.filter((path) => path.endsWith('program.cjs')).length).toBe(2);
  });

  test('a build is as old as the last code stored in any installation', async () => {
    await version();
    const old = new Date(Date.now() - 31 * 24 * 3600 * 1000);
    await utimes(await buildDirectory(), old, old);
    await otherVersion();
    expect(await readdir(await installationDirectory())).toEqual(FILES_OF_VERSION);
  });
});

test('concurrent first runs succeed and leave one file each', async () => {
  const texts = await Promise.all(Array.from({length: 8}, () => version()));
  expect(new Set(texts).size).toBe(1);
  expect(await isReplaced(await cachedFile())).toBe(false);
});

/** Preloaded script that reports the order of two calls of node:fs. */
const REPORT_CALLS = `const fs = require('node:fs'); for (const name of ['fsyncSync', 'renameSync']) {
  const own = fs[name];
  fs[name] = (...args) => { fs.writeSync(2, name + ' '); return own(...args); };
}`;

describe('an interrupted first run does not affect later ones', () => {
  const preload = async (name: string, source: string) => {
    await writeFile(join(root, name), source);
    return {NODE_OPTIONS: `--require=${join(root, name)}`};
  };

  test('compiled code is synced to disk before the rename, since V8 would crash on a partial file', async () => {
    const {stderr} = await kcri('--version', {env: await preload('report.cjs', REPORT_CALLS)});
    expect(stderr).toBe('fsyncSync renameSync '.repeat(FILES_OF_VERSION.length));
  });

  test('a process with the PID of a killed one can store compiled code', async () => {
    const pid = `const {kill, pid} = process; Object.defineProperty(process, 'pid', {value: 7});`;
    const killedBeforeRename = `${pid} require('node:fs').renameSync = () => kill.call(process, pid, 'SIGKILL');`;
    await expect(kcri('--version', {env: await preload('killed.cjs', killedBeforeRename)})).rejects.toThrow();
    expect(await readdir(await installationDirectory())).toHaveLength(1);
    await kcri('--version', {env: await preload('same.cjs', pid)});
    expect(await readdir(await installationDirectory())).toContain('program.cjs');
  });
});

describe('kcri runs without a writable cache', () => {
  test('if a file is in its place', async () => {
    await writeFile(cache(), 'in the way');
    expect(await version()).toMatch(/^kcri version v/);
    expect(await readFile(cache(), 'utf8')).toBe('in the way');
  });

  test('if the disk is full, and leaves no partial file', async () => {
    // The limit is in blocks of 512 bytes. Writes beyond it fail as on a full disk.
    expect(await version({shell: 'ulimit -f 16;'})).toMatch(/^kcri version v/);
    expect((await readdir(await installationDirectory())).filter((name) => !name.endsWith('.cjs'))).toEqual(
      [],
    );
  });

  test('if the user has no home', async () => {
    const env = {NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: undefined, HOME: undefined};
    expect(await version({uid: NOBODY, env})).toMatch(/^kcri version v/);
  });
});

describe('the directory of compiled code', () => {
  const home = () => join(root, 'home');
  /** Runs kcri as a user with a home directory. */
  const asUser = async (env: Options['env']) => {
    await mkdir(home());
    await chown(home(), NOBODY, NOBODY);
    const none = {NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: undefined, HOME: home()};
    return await version({uid: NOBODY, env: {...none, ...env}});
  };

  test('is in ~/.cache for users', async () => {
    await asUser({});
    expect(await readdir(join(home(), '.cache/kcri'))).toHaveLength(1);
  });

  test('is in XDG_CACHE_HOME if set', async () => {
    await asUser({XDG_CACHE_HOME: join(home(), 'elsewhere')});
    expect(await readdir(join(home(), 'elsewhere/kcri'))).toHaveLength(1);
    expect(await readdir(home())).toEqual(['elsewhere']);
  });

  test("is never in a home directory for root, since sudo may keep another user's HOME", async () => {
    await mkdir(home());
    const env = {NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: join(home(), 'cache'), HOME: home()};
    await version({env});
    expect(await readdir(home())).toEqual([]);
    const [build = ''] = await readdir('/var/cache/kcri');
    expect(build).toMatch(/^\w{16}-v/);
  });

  test('is not used with NODE_DISABLE_COMPILE_CACHE', async () => {
    await version({env: {NODE_DISABLE_COMPILE_CACHE: '1'}});
    expect(await readdir(root)).not.toContain('cache');
  });

  test('loses builds that were not stored for 30 days', async () => {
    const days = (count: number) => new Date(Date.now() - count * 24 * 3600 * 1000);
    for (const [name, age] of [
      ['old', 31],
      ['recent', 29],
    ] as const) {
      await mkdir(join(cacheDirectory(), name), {recursive: true});
      await utimes(join(cacheDirectory(), name), days(age), days(age));
    }
    await version();
    expect((await readdir(cacheDirectory())).filter((name) => !name.includes('-'))).toEqual(['recent']);
  });

  test('is separate from the package, which is not modified', async () => {
    const before = await readdir(root, {recursive: true});
    await version();
    const after = await readdir(root, {recursive: true});
    expect(after.filter((path) => !path.startsWith('cache')).sort()).toEqual(before.sort());
  });
});

/** Compiled code can do anything: a user who can change root's code is root. */
describe('compiled code is protected like the program', () => {
  test('only the owner can read and write it, whatever the umask', async () => {
    await version({shell: 'umask 0;'});
    const file = await cachedFile();
    for (const path of [cacheDirectory(), join(file, '..'), file])
      expect((await stat(path)).mode & 0o077, path).toBe(0);
  });

  test.each([
    ['of another user', (file: string) => chown(file, NOBODY, NOBODY)],
    ['writable by others', (file: string) => chmod(file, 0o646)],
    ['writable by a group', (file: string) => chmod(file, 0o664)],
  ])('a file %s is not used', async (_, modify) => {
    await version();
    const file = await cachedFile();
    await modify(file);
    expect(await isReplaced(file)).toBe(true);
    expect(await isReplaced(file)).toBe(false);
  });

  test('links are not written through', async () => {
    await version();
    const file = await cachedFile();
    const elsewhere = join(root, 'elsewhere');
    await writeFile(elsewhere, 'precious');
    await rm(file);
    await symlink(elsewhere, file);
    await version();
    expect(await readFile(elsewhere, 'utf8')).toBe('precious');
    expect((await lstat(file)).isFile()).toBe(true);
  });
});
