import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {buildOciArchive, toOciArchitecture} from '../../../src/private-runtime/image/oci-image.js';
import {IMAGE, SLEEP_COMMAND} from '../harness/manifests.js';
import {containerState, runPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import type {KcriResult} from '../harness/kcri-process.js';
import {KCRI_FILE} from '../../kcri-command.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NAMESPACE = 'kcri-e2e';

describe.each(newestRuntime)('starting, stopping and removing: $name', (which) => {
  let runtime: TestRuntime;
  let dir: string;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    dir = await mkdtemp(join(tmpdir(), 'kcri-change-'));
    await symlink(KCRI_FILE, join(dir, 'crictl'));
  });
  afterAll(async () => {
    await runtime.stop();
    await rm(dir, {recursive: true});
  });

  /** Runs kcri under the name crictl, with a config file so that it does not warn about a missing one. */
  const crictl = async (...args: readonly string[]): Promise<KcriResult> =>
    await runtime.kcri(args, {program: join(dir, 'crictl'), env: {CRI_CONFIG_FILE: '/dev/null'}});

  /** Creates a pod with a running container; both are removed at the end of the test. */
  async function pod(name: string) {
    const running = await runPod(runtime.connection, {name});
    onTestFinished(async () => {
      await runtime.kcri(['rmp', '--force', running.podSandboxId]);
    });
    return running;
  }

  /** Loads an image of one file with these names. */
  async function load(...names: readonly string[]): Promise<void> {
    const archive = join(dir, 'spare.tar');
    const file = {type: 'file', path: 'note', data: Buffer.from(`${names.join()}\n`)} as const;
    const image = {
      architecture: toOciArchitecture(process.arch),
      command: ['/nothing'],
      env: [],
      files: [file],
    };
    await writeFile(archive, buildOciArchive({names: [...names], ...image}));
    await runtime.output('runtime', 'load', archive);
  }

  test('stop and rm select by pod, and suggest names', async () => {
    const {containerId} = await pod('change-pod');
    const {stdout, stderr, exitCode} = await runtime.kcri(['stop', 'change-pot/main']);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain('no such container "change-pot/main"');
    expect(await runtime.output('stop', '-t', '0', '--pod', 'change-pod')).toBe(`${containerId}\n`);
    expect(await containerState(runtime.connection, containerId)).toBe('CONTAINER_EXITED');
    expect(await runtime.output('rm', 'main', '-p', 'change-pod')).toBe('main\n');
    expect(await runtime.output('ps', '-aq', '--pod', 'change-pod')).toBe('');
    expect(await runtime.output('rmp', '-f', `${NAMESPACE}/change-pod`)).toBe(
      `Stopped sandbox ${NAMESPACE}/change-pod\nRemoved sandbox ${NAMESPACE}/change-pod\n`,
    );
  });

  test('rm deletes only the log of the container', async () => {
    const logs = join(dir, 'logs');
    await mkdir(logs);
    const metadata = {name: 'change-logs', namespace: NAMESPACE, uid: 'change-logs'};
    const podConfig = join(dir, 'pod.json');
    await writeFile(podConfig, JSON.stringify({metadata, log_directory: logs}));
    const config = {
      metadata: {name: 'main'},
      image: {image: IMAGE},
      command: SLEEP_COMMAND,
      log_path: 'main.log',
    };
    const containerConfig = join(dir, 'container.json');
    await writeFile(containerConfig, JSON.stringify(config));
    const id = (await runtime.output('run', '--no-pull', containerConfig, podConfig)).trim();
    onTestFinished(async () => {
      await runtime.kcri(['rmp', '--force', 'change-logs']);
    });
    const files = ['main.log', 'main.log.20260101-120000.gz', 'main.log.mine'].map((name) =>
      join(logs, name),
    );
    for (const file of files.slice(1)) await writeFile(file, '');
    expect(await runtime.output('rm', '-f', id)).toBe(`${id}\n${id}\n`);
    expect(files.map((file) => existsSync(file))).toEqual([false, false, true]);
  });

  test('rmi removes an image in use, or with other tags, only with --force', async () => {
    await pod('change-images');
    const used = await runtime.kcri(['rmi', IMAGE]);
    expect(used).toMatchObject({stdout: '', exitCode: 1});
    expect(used.stderr).toMatch(/is used by container [0-9a-f]{13} \(main\)\nhint: .*--force/);
    await load('localhost/change:1', 'localhost/change:2');
    const tagged = await runtime.kcri(['rmi', 'localhost/change:1']);
    expect(tagged.stderr).toContain('image "localhost/change:1" is also tagged localhost/change:2\n');
    const removed = (await runtime.output('rmi', '--force', 'localhost/change:1')).split('\n').toSorted();
    expect(removed).toEqual(['', 'Deleted: localhost/change:1', 'Deleted: localhost/change:2']);
    await load('localhost/change:3');
    const {stdout, stderr} = await runtime.kcri(['rmi', '--all']);
    expect(stdout).toBe('Deleted: localhost/change:3\n');
    expect(stderr).toContain(`kept ${IMAGE}: used by container `);
    expect(await runtime.output('images', '-q', IMAGE)).not.toBe('');
  });

  test("as crictl the behavior and messages are crictl's", async () => {
    const {containerId, podSandboxId} = await pod('change-compat');
    expect(await crictl('stop')).toEqual({
      stdout: '',
      stderr: 'you must specify at least one CONTAINER-ID or use --all\n',
      exitCode: 1,
    });
    const help = await crictl('ps', 'foo');
    expect(help).toMatchObject({stderr: '', exitCode: 0});
    expect(help.stdout).toContain('$ crictl ps [FLAGS]');
    const running = await crictl('rm', containerId);
    expect({...running, stderr: running.stderr.replace(/time="[^"]*"/, '')}).toEqual({
      stdout: '',
      stderr: ` level=error msg="container \\"${containerId}\\" is running, please stop it first"\n`,
      exitCode: 1,
    });
    expect(await crictl('rm', '-f', containerId)).toEqual({
      stdout: `${containerId}\n${containerId}\n`,
      stderr: '',
      exitCode: 0,
    });
    const missing = await crictl('inspectp', podSandboxId, 'nope');
    expect(missing).toMatchObject({stdout: '', exitCode: 1});
    expect(missing.stderr).toMatch(
      /^time="[^"]+" level=error msg="get the status of pod sandboxes: .*not found"\n$/,
    );
  });

  test('as crictl, rmi removes all tags with a warning', async () => {
    await load('localhost/change:4', 'localhost/change:5');
    const {stdout, stderr, exitCode} = await crictl('rmi', 'localhost/change:4');
    expect({lines: stdout.split('\n').toSorted(), exitCode}).toEqual({
      lines: ['', 'Deleted: localhost/change:4', 'Deleted: localhost/change:5'],
      exitCode: 0,
    });
    expect(stderr).toMatch(
      /^time="[^"]+" level=warning msg="Image \\"localhost\/change:4\\" has multiple tags\./,
    );
  });
});
