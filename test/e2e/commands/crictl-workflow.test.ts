import {randomBytes} from 'node:crypto';
import {readdirSync, rmdirSync} from 'node:fs';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {tableCells} from '../../cli/output/table-cells.js';
import {until} from '../../base/until.js';
import {listCgroupsAt} from '../harness/leftovers.js';
import {aContainer, aManifest, IMAGE, SLEEP_COMMAND, type ManifestFields} from '../harness/manifests.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {startImageRegistry, type ImageRegistry} from '../harness/image-registry.js';
import {runtimes} from '../harness/runtimes-under-test.js';

const ID = /^[0-9a-f]{64}$/;

function removeCgroups(root: string): void {
  for (const cgroup of listCgroupsAt(root)) {
    const children = readdirSync(cgroup, {withFileTypes: true}).filter((entry) => entry.isDirectory());
    for (const {name} of children) rmdirSync(join(cgroup, name));
    rmdirSync(cgroup);
  }
}

describe.each(runtimes)('crictl commands: $name', (which) => {
  let runtime: TestRuntime;
  let dir: string;
  const cgroupRoot = `/kcri-form-${randomBytes(4).toString('hex')}`;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    dir = await mkdtemp(join(tmpdir(), 'kcri-configs-'));
  });
  afterAll(async () => {
    await runtime.stop();
    await rm(dir, {recursive: true});
    // As with crictl, the user who sets a pod's cgroup in a config removes it.
    removeCgroups(cgroupRoot);
  });

  async function json<T = Record<string, unknown>>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await runtime.output(...args)) as T;
  }

  async function config(name: string, fields: ManifestFields): Promise<string> {
    const path = join(dir, name);
    await writeFile(path, JSON.stringify(fields));
    return path;
  }

  const podConfig = (name: string): Promise<string> =>
    config(`${name}.pod.json`, {
      metadata: {name, namespace: 'team', uid: `uid-of-${name}`, attempt: 1},
      log_directory: join(dir, name),
      labels: {app: name, 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': 'team'},
      linux: {cgroup_parent: `${cgroupRoot}/${name}`},
    });

  const containerConfig = (name: string, command: readonly string[] = SLEEP_COMMAND): Promise<string> =>
    config(`${name}.container.json`, {
      metadata: {name},
      labels: {'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': 'team'},
      image: {image: IMAGE},
      command,
      log_path: `${name}.log`,
      linux: {},
    });

  /** Runs a container in a pod of the same name; both are removed at the end of the test. */
  async function running(name: string, command?: readonly string[]): Promise<string> {
    const files = [await containerConfig(name, command), await podConfig(name)];
    const id = (await runtime.output('run', '--no-pull', ...files)).trim();
    expect(id).toMatch(ID);
    onTestFinished(async () => {
      await runtime.kcri(['rmp', '--force', `team/${name}`]);
    });
    return id;
  }

  test('version prints the runtime and its version', async () => {
    expect(await runtime.output('version')).toMatch(
      /^Version: {2}0\.1\.0\nRuntimeName: {2}containerd\nRuntimeVersion: {2}\S+\nRuntimeApiVersion: {2}v1\n$/,
    );
  });

  test('info prints JSON with the conditions of the runtime', async () => {
    const {status} = await json<{status: {conditions: {type: string; status: boolean}[]}}>('info');
    expect(status.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({type: 'RuntimeReady', status: true}),
        expect.objectContaining({type: 'NetworkReady', status: true}),
      ]),
    );
  });

  test('runp, create and start create a container step by step, and stop, rm, stopp and rmp remove it', async () => {
    const [pod, container] = [await podConfig('steps'), await containerConfig('steps')];
    const podId = (await runtime.output('runp', pod)).trim();
    const id = (await runtime.output('create', podId, container, pod)).trim();
    expect([podId, id]).toEqual([expect.stringMatching(ID), expect.stringMatching(ID)]);
    expect(await runtime.output('ps', '-q')).toBe('');
    expect(await runtime.output('ps', '-q', '--state', 'created', '--no-trunc')).toBe(`${id}\n`);
    expect(await runtime.output('start', id)).toBe(`${id}\n`);
    expect(await runtime.output('ps', '-q', '--no-trunc')).toBe(`${id}\n`);
    expect(await runtime.kcri(['rm', id])).toMatchObject({stdout: '', exitCode: 1});
    expect(await runtime.output('stop', '--timeout', '1', id)).toBe(`${id}\n`);
    expect(await runtime.output('rm', id)).toBe(`${id}\n`);
    expect(await runtime.kcri(['rmp', podId])).toMatchObject({stdout: '', exitCode: 1});
    expect(await runtime.output('stopp', podId)).toBe(`Stopped sandbox ${podId}\n`);
    expect(await runtime.output('rmp', podId)).toBe(`Removed sandbox ${podId}\n`);
    expect(await runtime.output('pods', '-q')).toBe('');
  });

  test("pods and ps print a row per object, and -o json prints the runtime's response", async () => {
    const id = await running('listed');
    const podId = (await runtime.output('pods', '-q', '--no-trunc')).trim();
    expect(tableCells(await runtime.output('pods'))).toEqual([
      ['POD ID', 'CREATED', 'STATE', 'NAME', 'NAMESPACE', 'ATTEMPT', 'RUNTIME'],
      [podId.slice(0, 13), expect.stringMatching(/ago$/), 'Ready', 'listed', 'team', '1', '(default)'],
    ]);
    const {image} = await runtime.connection.images.imageStatus({image: {image: IMAGE}});
    const imageId = image!.id.replace('sha256:', '').slice(0, 13);
    expect(tableCells(await runtime.output('ps'))).toEqual([
      ['CONTAINER', 'IMAGE', 'CREATED', 'STATE', 'NAME', 'ATTEMPT', 'POD ID', 'POD', 'NAMESPACE'],
      [
        id.slice(0, 13),
        expect.stringMatching(new RegExp(`^(${imageId}|${IMAGE})$`)),
        expect.stringMatching(/ago$/),
        'Running',
        'listed',
        '0',
        podId.slice(0, 13),
        'listed',
        'team',
      ],
    ]);
    const {containers} = await json<{containers: unknown[]}>('ps', '-o', 'json');
    expect(containers).toEqual([
      expect.objectContaining({id, podSandboxId: podId, state: 'CONTAINER_RUNNING'}),
    ]);
    expect(await runtime.output('ps', '--name', 'other', '-q')).toBe('');
    expect(await runtime.output('pods', '--label', 'app=listed', '-q', '--no-trunc')).toBe(`${podId}\n`);
  });

  test('inspect, inspectp and inspecti print one object as JSON, by name or ID', async () => {
    const id = await running('shown');
    const byName = await json<{status: {id: string; startedAt: string}; info: {pid: number}}>(
      'inspect',
      'shown',
    );
    expect(byName.status.id).toBe(id);
    expect(byName.status.startedAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(byName.info.pid).toBeGreaterThan(1);
    expect(await json('inspect', id.slice(0, 8))).toEqual(byName);
    const pod = await json<{status: {metadata: {name: string}; network: {ip: string}}}>('inspectp', 'shown');
    expect(pod.status).toMatchObject({
      metadata: {name: 'shown'},
      network: {ip: expect.any(String) as string},
    });
    const image = await json<{status: {repoTags: string[]}}>('inspecti', 'busybox:1.36');
    expect(image.status.repoTags).toContain(IMAGE);
  });

  test("logs prints the container's log, optionally only its end", async () => {
    await running('speaker', [
      'sh',
      '-c',
      'for n in 1 2 3; do echo line $n; done; sleep 1; echo oops >&2; sleep 60',
    ]);
    await expect.poll(() => readFile(join(dir, 'speaker/speaker.log'), 'utf8')).toContain('oops');
    const all = await runtime.kcri(['logs', 'speaker']);
    expect(all).toEqual({stdout: 'line 1\nline 2\nline 3\n', stderr: 'oops\n', exitCode: 0});
    expect(await runtime.kcri(['logs', '--tail', '2', 'speaker'])).toEqual({
      stdout: 'line 3\n',
      stderr: 'oops\n',
      exitCode: 0,
    });
  });

  test('logs -f follows until the container exits', async () => {
    await running('teller', ['sh', '-c', 'echo one; sleep 1; echo two']);
    expect(await runtime.kcri(['logs', '-f', 'teller'])).toEqual({
      stdout: 'one\ntwo\n',
      stderr: '',
      exitCode: 0,
    });
  });

  test('exec --sync runs a command, separates its outputs, and exits with its exit code', async () => {
    await running('worker');
    const exec = (script: string): ReturnType<TestRuntime['kcri']> =>
      runtime.kcri(['exec', '--sync', 'worker', 'sh', '-c', script]);
    expect(await exec('echo out; echo err >&2')).toEqual({stdout: 'out\n', stderr: 'err\n', exitCode: 0});
    expect(await exec('echo out; exit 7')).toMatchObject({stdout: 'out\n', exitCode: 7});
    const {exitCode, stderr} = await runtime.kcri([
      'exec',
      '--sync',
      '--timeout',
      '1',
      'worker',
      'sleep',
      '9',
    ]);
    expect({exitCode, stderr}).toMatchObject({
      stderr: expect.stringMatching(/timed out|timeout 1s exceeded/) as string,
    });
    expect(exitCode).not.toBe(0);
  });

  test('run reports a container that cannot be created, and leaves nothing', async () => {
    const pod = await podConfig('half');
    const bad = await config('bad.json', {metadata: {name: 'bad'}, image: {image: 'nowhere.invalid/x:1'}});
    const {stdout, stderr, exitCode} = await runtime.kcri(['run', '--no-pull', bad, pod]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain('nowhere.invalid/x:1');
    expect(await runtime.output('pods', '-q')).toBe('');
  });

  test('rmi removes an unused image with all its names', async () => {
    const archive = join(dir, 'spare.tar');
    await runtime.output('images');
    await spareImage(archive);
    await runtime.output('runtime', 'load', archive);
    expect(tableCells(await runtime.output('images')).map(([name, tag]) => `${name}:${tag}`)).toContain(
      'localhost/spare:2',
    );
    expect(await runtime.output('rmi', 'localhost/spare:2')).toBe('Deleted: localhost/spare:2\n');
    expect(await runtime.kcri(['rmi', 'localhost/spare:2'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no such image "localhost/spare:2"') as string,
    });
  });

  describe('pull', () => {
    let registry: ImageRegistry;
    beforeAll(async () => {
      registry = await startImageRegistry();
    });
    afterAll(() => registry.stop());

    test('pulls an image and prints it', async () => {
      const name = await registry.push('library/thing', 'v1');
      expect(await runtime.output('pull', name)).toMatch(
        /^Image is up to date for \S*sha256:[0-9a-f]{64}\n$/,
      );
      const {images} = await json<{images: {repoTags: string[]}[]}>('images', '-o', 'json');
      expect(images.flatMap(({repoTags}) => repoTags)).toContain(name);
      expect(await runtime.output('images', '-q', '--no-trunc', name)).toMatch(/^sha256:[0-9a-f]{64}\n$/);
    });

    test('of a missing tag reports the image', async () => {
      const name = `${registry.host}/library/thing:none`;
      const {stdout, stderr, exitCode} = await runtime.kcri(['pull', name]);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      expect(stderr).toContain(name);
      expect(stderr).toMatch(/not found/i);
      expect(stderr).not.toMatch(/^\s+at /m);
    });

    test('leaves images without a tag, which system df counts and the prune commands remove', async () => {
      const name = await registry.pushUnique('library/pruned', 'v1');
      await runtime.output('pull', name);
      // A new image takes the tag of the old one.
      await registry.pushUnique('library/pruned', 'v1');
      await runtime.output('pull', name);
      const kept = await running('pruned-live');
      await running('pruned-ended', ['sh', '-c', 'echo ended; head -c 100000 /dev/zero >/file']);
      await until(async () => (await runtime.output('ps', '-q', '--state=exited')) !== '');
      const ended = (await runtime.output('ps', '-q', '--state=exited', '--no-trunc')).trim();
      await running('pruned-stopped');
      await runtime.output('stopp', 'team/pruned-stopped');
      const before = await json<{
        usage: {type: string; total: number; reclaimableBytes: number}[];
        items: {type: string; id: string; name: string; reclaimable: boolean; sizeBytes: number | null}[];
      }>('system', 'df', '-o', 'json');
      expect(before.usage.find(({type}) => type === 'Images')?.reclaimableBytes).toBeGreaterThan(1_000_000);
      const layer = before.items.find(({type, id}) => type === 'Containers' && id === ended);
      expect(layer).toMatchObject({reclaimable: true});
      // containerd itself reports the size of an exited container.
      expect(layer?.sizeBytes).toBeGreaterThan(100_000);
      expect(await runtime.output('system', 'df')).toMatch(/^TYPE .*\nImages +\d+ +1 /);
      expect(await runtime.kcri(['system', 'prune'], {input: ''})).toMatchObject({stdout: '', exitCode: 1});
      expect(await runtime.output('system', 'prune', '--dry-run')).toContain(
        'Would remove 2 containers, 1 pod, 1 image; frees ',
      );
      const pruned = await runtime.kcri(['system', 'prune', '--yes']);
      expect(pruned).toMatchObject({stderr: '', exitCode: 0});
      expect(pruned.stdout).toMatch(/\nRemoved 2 containers, 1 pod, 1 image; freed \S/);
      expect(await runtime.output('ps', '-aq', '--no-trunc')).toBe(`${kept}\n`);
      expect(await runtime.output('images', '-q', '--filter=dangling=true')).toBe('');
      expect(await runtime.output('image', 'prune', '--all', '--yes')).toContain(`Deleted: ${name}\n`);
      expect(await runtime.kcri(['image', 'prune', '--all', '--dry-run'])).toMatchObject({
        stdout: '',
        stderr: 'No images to remove\n',
      });
      // The images of the running container and of sandboxes are still there.
      const {images} = await json<{images: {repoTags: string[]}[]}>('images', '-o', 'json');
      expect(images.flatMap(({repoTags}) => repoTags)).toContain(IMAGE);
      await running('pruned-after');
    });

    test('from an unavailable registry reports the registry', async () => {
      const gone = await startImageRegistry();
      await gone.stop();
      const {stdout, stderr, exitCode} = await runtime.kcri(['pull', `${gone.host}/x:1`]);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      expect(stderr).toContain(gone.host);
      expect(stderr).toContain('connection refused');
    });

    test('is part of a sync if the image is absent, according to the pull policy', async () => {
      const name = await registry.push('library/app', 'v1');
      const containers = [aContainer('main', {image: name, command: ['true']})];
      const manifest = aManifest('pulled', {restartPolicy: 'Never', containers});
      const args = ['sync', '-', '--wait', 'complete', '--rm', '--pod-logs-dir', join(dir, 'logs')];
      const {stdout, exitCode} = await runtime.kcri(args, {input: manifest});
      expect({stdout, exitCode}).toMatchObject({
        stdout: expect.stringContaining(`image ${name} pulled`) as string,
        exitCode: 0,
      });
    });
  });
});

/** Writes an archive with an image of one file, so that no other image has its ID. */
async function spareImage(archive: string): Promise<void> {
  const {buildOciArchive, toOciArchitecture} =
    await import('../../../src/private-runtime/image/oci-image.js');
  await writeFile(
    archive,
    buildOciArchive({
      names: ['localhost/spare:2'],
      architecture: toOciArchitecture(process.arch),
      command: ['/nothing'],
      env: [],
      files: [{type: 'file', path: 'note', data: Buffer.from('spare\n')}],
    }),
  );
}
