import {execFile} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {EventEmitter, once} from 'node:events';
import {stat, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {gzipSync} from 'node:zlib';
import {connectContainerd} from '../../../src/containerd/connect-containerd.js';
import {startImageRegistry} from '../harness/image-registry.js';
import {buildOciArchive, buildOciImage} from '../../../src/private-runtime/image/oci-image.js';
import {createTarArchive} from '../../../src/private-runtime/image/tar.js';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {busyboxSpec} from '../../../scripts/test-images.mjs';
import {newestRuntime, runtimes} from '../harness/runtimes-under-test.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';

const ONLY = 'registry.example/team/only:1';

describe.each(runtimes)('images on $name', (which) => {
  let runtime: TestRuntime;
  let busybox: string;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    [busybox = ''] = (await busyboxSpec()).names;
    // The image of the harness has several names.
    await runtime.output('image', 'tag', busybox, ONLY);
  });
  afterAll(async () => {
    await runtime.stop();
  });

  test('get a name, lose one, and keep the last', async () => {
    expect(await runtime.output('image', 'tag', busybox, 'team/tools')).toBe('docker.io/team/tools:latest\n');
    expect(await runtime.output('images', 'team/tools')).toMatch(/docker\.io\/team\/tools +latest/);
    const untagged = await runtime.kcri(['image', 'untag', 'team/tools']);
    expect(untagged).toMatchObject({stdout: 'Untagged: docker.io/team/tools:latest\n', exitCode: 0});
    expect(untagged.stderr).toMatch(new RegExp(`remains as .*${busybox}`));
    expect(await runtime.output('images', '-q', 'team/tools')).toBe('');
  });

  test('show their history with the sizes of layers', async () => {
    expect(await runtime.output('history', busybox)).toMatch(/\n[0-9a-f]{13} .* kcri +[\d.]+[kM]B/);
  });

  test('are saved, removed, loaded again, and run', async () => {
    const archive = join(runtime.rootDir, 'saved.tar');
    expect(await runtime.output('image', 'save', '-o', archive, busybox, ONLY)).toBe('');
    expect((await stat(archive)).mode & 0o777).toBe(0o600);
    await runtime.output('rmi', '--force', busybox);
    expect(await runtime.output('images', '-q', busybox)).toBe('');
    expect((await runtime.output('image', 'load', archive)).split('\n').toSorted().join(' ').trim()).toBe(
      [busybox, ONLY].toSorted().join(' '),
    );
    const manifest = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'loaded'},
      spec: {
        restartPolicy: 'Never',
        containers: [{name: 'main', image: ONLY, imagePullPolicy: 'Never', command: ['echo', 'it runs']}],
      },
    });
    const {stdout, stderr, exitCode} = await runtime.kcri(['sync', '--logs', '--rm', '-'], {input: manifest});
    expect({output: stdout + stderr, exitCode}).toMatchObject({
      output: expect.stringContaining('it runs') as string,
      exitCode: 0,
    });
  });

  test('are loaded from a gzipped archive of docker on standard input', async () => {
    const archive = await dockerArchive('registry.example/team/docker:1');
    const path = join(runtime.rootDir, 'docker.tar.gz');
    await writeFile(path, gzipSync(archive));
    const script = `'${process.execPath}' bin/kcri.js image load < '${path}'`;
    const {stdout} = await promisify(execFile)('sh', ['-c', script], {
      env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    });
    expect(stdout).toBe('registry.example/team/docker:1\n');
    expect(await runtime.output('images', 'registry.example/team/docker')).toMatch(/ 1 /);
  });

  test('are pulled with their times in JSON', async () => {
    await using registry = await startImageRegistry();
    const image = await registry.pushUnique('team/timed', '1', 5_000_000);
    const pulled = JSON.parse(await runtime.output('pull', '-o', 'json', image)) as object;
    expect(pulled).toMatchObject({
      image,
      imageRef: expect.stringMatching(/^sha256:/) as string,
      pulledMs: expect.any(Number) as number,
    });
    const {stdout, stderr} = await runtime.kcri(['pull', '-v', image]);
    expect(stdout).toMatch(/^Image is up to date for sha256:/);
    expect(stderr).toMatch(/^pulled in /);
  });

  test('that are damaged leave nothing behind', async () => {
    const before = await contentOf(runtime);
    const spec = {...(await busyboxSpec()), names: ['registry.example/bad:1']};
    // A layer that containerd does not have yet, with a wrong byte.
    const own = {type: 'file', path: 'own', data: randomBytes(1000)} as const;
    const archive = Buffer.from(buildOciArchive({...spec, files: [...spec.files, own]}));
    const at = archive.indexOf(own.data);
    archive[at] = (archive[at] ?? 0) ^ 1;
    const path = join(runtime.rootDir, 'damaged.tar');
    for (const bytes of [archive, archive.subarray(0, archive.length / 2)]) {
      await writeFile(path, bytes);
      const {stdout, stderr, exitCode} = await runtime.kcri(['image', 'load', path]);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      expect(stderr).toMatch(/damaged|incomplete/);
    }
    expect(await contentOf(runtime)).toEqual(before);
  });
});

describe.each(newestRuntime)('a pull on a terminal, on $name', (which) => {
  test('shows the layers that are downloaded, and how long it took', async () => {
    await using runtime = await startPrivateRuntime(which);
    await using registry = await startHaltingRegistry();
    using terminal = new TmuxTerminal(100, 24, {
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      K: KCRI_COMMAND.join(' '),
    });
    terminal.typeLine(`$K pull ${registry.host}/slow:1`);
    await terminal.waitForScreen(/^pulling \S+ … \d+s\n {2}[0-9a-f]{12} {2}\[=+ +\] [\d.]+MB\/[\d.]+MB$/m);
    registry.release();
    await terminal.waitForScreen(/^pulled in \S+: [\d.]+MB downloaded in \S+, then unpacked for \S+$/m);
    expect(terminal.screen).toContain('Image is up to date for sha256:');
    expect(terminal.screen).not.toContain('[==');
  });
});

/** Starts a registry with one image, whose large layer it halts in the middle until `release`. */
async function startHaltingRegistry() {
  const spec = await busyboxSpec();
  const own = {type: 'file', path: 'own', data: randomBytes(4_000_000)} as const;
  const {manifest, blobs} = buildOciImage({...spec, files: [...spec.files, own]});
  const all = new Map([manifest, ...blobs].map((blob) => [blob.digest, blob]));
  const released = new EventEmitter();
  let isReleased = false;
  const server = createServer((request, response) => {
    const {mediaType, digest, data} = all.get(request.url?.split('/').at(-1) ?? '') ?? manifest;
    response.writeHead(200, {
      'content-type': mediaType,
      'content-length': data.length,
      'docker-content-digest': digest,
    });
    if (request.method === 'HEAD' || data.length < own.data.length || isReleased) {
      response.end(request.method === 'HEAD' ? undefined : data);
      return;
    }
    const half = data.length / 2;
    response.write(data.subarray(0, half));
    released.once('release', () => response.end(data.subarray(half)));
  });
  const port = await listenOnLoopback(server);
  return {
    host: `127.0.0.1:${port}`,
    release: () => {
      isReleased = true;
      released.emit('release');
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns what containerd stores: names, blobs, ingests, snapshots and leases. */
async function contentOf({endpoint}: TestRuntime): Promise<object> {
  using containerd = connectContainerd(endpoint);
  const blobs: string[] = [];
  for await (const {info} of containerd.content.list()) blobs.push(...info.map(({digest}) => digest));
  return {
    names: (await containerd.images.list()).images.map(({name}) => name),
    blobs: blobs.toSorted(),
    ingests: (await containerd.content.listStatuses()).statuses.map(({ref}) => ref),
    leases: (await containerd.leases.list()).leases.map(({id}) => id),
  };
}

/** Returns an archive as of "docker save" before version 25. */
async function dockerArchive(name: string): Promise<Uint8Array> {
  const {blobs} = buildOciImage({...(await busyboxSpec()), env: ['OF=docker']});
  const [config, layer] = blobs;
  const manifest = [{Config: 'config.json', RepoTags: [name], Layers: ['abc/layer.tar']}];
  return createTarArchive([
    {type: 'directory', path: 'abc'},
    {type: 'file', path: 'abc/layer.tar', data: layer?.data ?? new Uint8Array()},
    {type: 'file', path: 'config.json', data: config?.data ?? new Uint8Array()},
    {type: 'file', path: 'manifest.json', data: Buffer.from(JSON.stringify(manifest))},
  ]);
}
