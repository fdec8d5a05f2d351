import {execFile} from 'node:child_process';
import {copyFile, mkdir, mkdtemp, readdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {basename, dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {beforeEach, expect, onTestFinished, test} from 'vitest';
import {KCRI_COMMAND, KCRI_FILE} from '../../kcri-command.js';
import {aContainer, FakeRuntime} from '../../fakes/fake-runtime.js';
import {runKcriProcess} from '../harness/kcri-process.js';

const run = promisify(execFile);
const NOBODY = '65534:65534';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kcri-binary-'));
  onTestFinished(() => rm(folder, {recursive: true}));
});

test('the tested program is one file', () => {
  expect(KCRI_COMMAND).toEqual([KCRI_FILE]);
  expect(basename(KCRI_FILE)).toMatch(/^kcri-linux-/);
});

test.for([
  ['BUN_BE_BUN', '1'],
  ['BUN_OPTIONS', '--preload PLANTED'],
  ['BUN_INSPECT_PRELOAD', 'PLANTED'],
  ['BUN_INSPECT', 'ws+unix://PLANTED.sock'],
  ['BUN_JSC_functionOverrides', 'PLANTED'],
  ['NODE_OPTIONS', '--require PLANTED'],
] as const)('runs no code that the environment variable %s names', async ([name, value]) => {
  const planted = join(folder, 'planted.js');
  const loaded = join(folder, 'loaded');
  await writeFile(planted, `require('node:fs').writeFileSync(${JSON.stringify(loaded)}, '')`);
  const {stdout, stderr} = await runKcriProcess(['--version'], {
    env: {[name]: value.replace('PLANTED', planted)},
  });
  // The engine rejects an unknown option and does not start the program.
  expect(stdout + stderr).toMatch(/^kcri version v\d|invalid JSC environment variable/);
  expect(stdout + stderr).not.toContain('functionOverrides SYNTAX ERROR');
  expect(await readdir(folder)).toEqual(['planted.js']);
});

test('files in the current directory are not loaded or read', async () => {
  const cwd = join(folder, 'hostile');
  const planted = `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'loaded'))}, '')`;
  const modules = ['ws', 'bufferutil', 'utf-8-validate', 'yaml', '@grpc/grpc-js'].map(
    (name) => `node_modules/${name}/index.js`,
  );
  const files = {
    '.env': 'CONTAINER_RUNTIME_ENDPOINT=unix:///planted.sock\nKCRI_ROOT_DIR=/planted\n',
    'bunfig.toml': 'preload = ["./planted.js"]\n',
    'package.json': '{"name": "planted", "main": "planted.js", "imports": {"#*": "./planted.js"}}',
    'tsconfig.json': '{"compilerOptions": {"paths": {"*": ["./planted.js"]}}}',
    'planted.js': planted,
    ...Object.fromEntries(modules.map((name) => [name, planted])),
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), {recursive: true});
    await writeFile(join(cwd, name), content);
  }
  const manifest = join(folder, 'pod.yaml');
  await writeFile(manifest, '{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: []}}');

  const {stderr} = await runKcriProcess(['ps'], {cwd, env: {XDG_RUNTIME_DIR: folder}});
  const plan = await runKcriProcess(['plan', manifest], {cwd});
  await using runtime = await FakeRuntime.start({
    containers: [aContainer({name: 'server'})],
    streamingUrl: 'http://127.0.0.1:1',
  });
  const exec = ['-r', runtime.endpoint, 'exec', '--transport', 'websocket', 'server', 'true'];
  const session = await runKcriProcess(exec, {cwd});

  expect(stderr).not.toContain('planted');
  expect(plan.stderr).toContain('spec.containers');
  expect(session.stderr).toContain('127.0.0.1:1');
  expect(await readdir(folder)).toEqual(['hostile', 'pod.yaml']);
});

test('leaves no files in the home, temporary and current directory', async () => {
  const env = {HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: undefined};
  for (const args of [
    ['--version'],
    ['ps', '--help'],
    ['ps', '-r', 'unix:///nowhere.sock'],
    ['completion', 'bash'],
  ])
    await runKcriProcess(args, {cwd: folder, env});
  expect(await readdir(folder)).toEqual([]);
});

test('runs as nobody, without an environment, on a read-only root', async () => {
  await asRoot(folder);
  const script = `mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount -o remount,bind,ro "$1" || exit 1
    cd / && for word in --version --help version; do env -i "$2" --userspec=${NOBODY} "$1" /kcri "$word" 2>&1; done; true`;
  const chroot = (await run('which', ['chroot'])).stdout.trim();
  const {stdout} = await run('unshare', ['--mount', 'sh', '-c', script, 'sh', folder, chroot]);
  expect(stdout).toMatch(/^kcri version v\d[^]*\nUSAGE\n[^]*kcri: no container runtime found/);
});

test('runs under sudo, as root and as another user', async () => {
  const program = join(folder, 'kcri');
  await copyFile(KCRI_FILE, program);
  await run('chmod', ['0755', folder]);
  const sudo = async (...args: string[]) => await run('sudo', ['-n', ...args], {cwd: '/'});
  await using runtime = await FakeRuntime.start({containers: [aContainer({name: 'server'})]});
  const endpoint = `CONTAINER_RUNTIME_ENDPOINT=${runtime.endpoint}`;
  expect((await sudo(endpoint, program, 'ps')).stdout).toMatch(/\bserver\b/);
  expect((await sudo('-u', 'nobody', program, '--version')).stdout).toMatch(/^kcri version v\d/);
  expect((await sudo('-u', 'nobody', program, '--help')).stdout).toContain('COMMANDS');
  await expect(sudo('-u', 'nobody', endpoint, program, 'ps')).rejects.toThrow(/permission denied[^]*hint: /i);
});

/** Makes a directory usable as a root directory, with the executable and the libraries that it is linked to. */
async function asRoot(root: string): Promise<void> {
  await mkdir(join(root, 'proc'));
  await copyFile(KCRI_FILE, join(root, 'kcri'));
  const {stdout} = await run('ldd', [KCRI_FILE]);
  for (const [library] of stdout.matchAll(/\/\S+/g)) {
    await mkdir(dirname(join(root, library)), {recursive: true});
    await copyFile(library, join(root, library));
  }
  await run('chmod', ['0755', root]);
}
