import {readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {describe, expect, onTestFinished, test} from 'vitest';
import {buildOciArchive, buildOciImage} from '../../../src/private-runtime/image/oci-image.js';
import {createTarArchive, type TarEntry} from '../../../src/private-runtime/image/tar.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri} from '../../cli/run-kcri.js';
import {digestOf} from '../../fakes/containerd/fake-containerd.js';
import {BUSYBOX, FakeRuntime} from '../../fakes/fake-runtime.js';
import {anOciImage, APP, ARCHITECTURE, startImageTestbed, type ImageTestbed} from './image-testbed.js';

const NEW = 'registry.example/team/new:1';

const json = (path: string, value: unknown): TarEntry => ({
  type: 'file',
  path,
  data: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});

function anArchive(name = NEW, content: Uint8Array = Buffer.from('new')): Buffer {
  return Buffer.from(
    buildOciArchive({
      names: [name],
      architecture: ARCHITECTURE,
      files: [{type: 'file', path: 'data', data: content}],
    }),
  );
}

/** Loads an archive from a file. */
async function load({run}: ImageTestbed, bytes: Uint8Array, ...flags: readonly string[]) {
  const path = join(await temporaryDirectory(), 'images.tar');
  await writeFile(path, bytes);
  return await run(['image', 'load', path, ...flags]);
}

/** What an archive may leave behind. */
function contentOf({fake}: ImageTestbed): object {
  return {
    names: [...fake.images.keys()],
    snapshots: [...fake.snapshots.keys()],
    ingests: [...fake.ingests.keys()],
    leases: [...fake.leases],
  };
}

/** Returns the digests of an image of one layer. */
function blobsOf({fake}: ImageTestbed, name: string) {
  const manifest = fake.images.get(name)?.target.digest ?? '';
  const {config, layers} = JSON.parse(fake.blobs.get(manifest)?.data.toString() ?? '') as {
    config: {digest: string};
    layers: readonly {digest: string}[];
  };
  return {manifest, config: config.digest, layer: layers[0]?.digest ?? ''};
}

describe('image save', () => {
  // Proves: image save, image save --output
  test('writes an archive that image load and docker read, into a file for the owner only', async () => {
    const testbed = await startImageTestbed();
    const path = join(await temporaryDirectory(), 'app.tar');
    expect(await testbed.run(['image', 'save', '-o', path, APP])).toEqual({
      stdout: '',
      stderr: '',
      exitCode: 0,
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const other = await startImageTestbed();
    other.fake.images.clear();
    other.fake.blobs.clear();
    expect(await other.run(['image', 'load', path])).toEqual({stdout: `${APP}\n`, stderr: '', exitCode: 0});
    expect([...other.fake.blobs.keys()].toSorted()).toEqual([...testbed.fake.blobs.keys()].toSorted());
    expect((await other.run(['images', '-q', APP])).stdout).toBe(
      (await testbed.run(['images', '-q', APP])).stdout,
    );
    const text = await readFile(path, 'latin1');
    expect(text).toContain(`"RepoTags":["${APP}"]`);
  });

  test('lists an image once in manifest.json, with all its names', async () => {
    const {fake, run} = await startImageTestbed();
    const other = 'registry.example/team/app:2';
    fake.addImage(other, anOciImage());
    const {stdout} = await run(['image', 'save', APP, other, APP]);
    expect(stdout).toContain(`"RepoTags":["${APP}","${other}"]`);
    expect(stdout.match(/"RepoTags"/g)).toHaveLength(1);
    expect(stdout.match(/"io.containerd.image.name"/g)).toHaveLength(2);
  });

  test('writes to standard output, but not to a terminal', async () => {
    const {run} = await startImageTestbed();
    expect((await run(['image', 'save', APP])).stdout).toContain('index.json');
    const refused = await run(['image', 'save', APP], {terminal: true});
    expect(refused).toMatchObject({stdout: '', exitCode: 1});
    expect(refused.stderr).toMatch(/cannot be written to a terminal\nhint: use -o FILE/);
  });

  test('leaves no file if content is missing or damaged, and says why', async () => {
    const {fake, run} = await startImageTestbed();
    const directory = await temporaryDirectory();
    const path = join(directory, 'app.tar');
    await writeFile(path, 'before');
    const layer = anOciImage().blobs.at(-1);
    const {data} = fake.blobs.get(layer?.digest ?? '') ?? {};
    fake.putBlob(layer?.digest ?? '', Buffer.from(data ?? []).fill(1, 10, 20));
    expect((await run(['image', 'save', '-o', path, APP])).stderr).toMatch(
      /content store is damaged\nhint: /,
    );
    fake.blobs.delete(layer?.digest ?? '');
    expect((await run(['image', 'save', '-o', path, APP])).stderr).toMatch(
      /is incomplete: containerd does not have sha256:.*\nhint: .*discard_unpacked_layers/,
    );
    expect((await run(['image', 'save', '-o', path, 'nope'])).stderr).toContain('no such image "nope"');
    expect((await run(['image', 'save', '-o', path])).exitCode).toBe(1);
    expect(await readFile(path, 'utf8')).toBe('before');
    expect(await readdir(directory)).toEqual(['app.tar']);
  });

  test('saves the present platform of an image for several', async () => {
    const testbed = await startImageTestbed();
    const own = testbed.fake.images.get(APP)?.target;
    const platform = {os: 'linux', architecture: ARCHITECTURE};
    const foreign = {
      ...own,
      digest: `sha256:${'0'.repeat(64)}`,
      platform: {os: 'linux', architecture: 's390x'},
    };
    const index = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        manifests: [foreign, {...own, size: Number(own?.size), platform}],
      }).replaceAll(/"size":"(\d+)"/g, '"size":$1'),
    );
    const target = {
      mediaType: 'application/vnd.oci.image.index.v1+json',
      digest: digestOf(index),
      size: String(index.length),
    };
    testbed.fake.putBlob(target.digest, index);
    testbed.fake.images.set(APP, {name: APP, labels: {}, target});
    const path = join(await temporaryDirectory(), 'app.tar');
    expect(await testbed.run(['image', 'save', '-o', path, APP])).toMatchObject({stderr: '', exitCode: 0});
    const other = await startImageTestbed();
    expect(await other.run(['image', 'load', path])).toMatchObject({stdout: `${APP}\n`, exitCode: 0});
    expect(other.fake.images.get(APP)?.target.digest).toBe(own?.digest);
  });
});

describe('image load', () => {
  // Proves: image load
  test('stores, labels, unpacks and names an image under a lease', async () => {
    const testbed = await startImageTestbed();
    expect(await load(testbed, anArchive())).toEqual({stdout: `${NEW}\n`, stderr: '', exitCode: 0});
    const {fake} = testbed;
    expect(fake.images.get(NEW)?.labels).toEqual({'io.cri-containerd.image': 'managed'});
    const {manifest, config, layer} = blobsOf(testbed, NEW);
    expect(fake.blobs.get(manifest)?.labels).toEqual({
      'containerd.io/gc.ref.content.config': config,
      'containerd.io/gc.ref.content.l.0': layer,
    });
    expect(fake.blobs.get(config)?.labels).toEqual({'containerd.io/gc.ref.snapshot.overlayfs': layer});
    expect(fake.snapshots.get(layer)?.kind).toBe('COMMITTED');
    expect(fake.leases.size).toBe(0);
    const writes = fake.calls.filter(({rpc}) => /^(Content.Write|Snapshots|Diff|Images.Create)/.test(rpc));
    expect(writes.every(({lease}) => lease?.startsWith('kcri-load-'))).toBe(true);
    // A second time, everything exists.
    expect(await load(testbed, anArchive())).toMatchObject({stdout: `${NEW}\n`, exitCode: 0});
  });

  // Proves: image load --input, image load --name
  test('reads gzip, docker archives with links, and archives without names', async () => {
    const testbed = await startImageTestbed();
    expect(await load(testbed, gzipSync(anArchive()))).toMatchObject({stdout: `${NEW}\n`, exitCode: 0});
    const [config, layer] = anOciImage(Buffer.from('docker')).blobs;
    const docker = createTarArchive([
      {type: 'directory', path: 'abc'},
      {type: 'symlink', path: 'abc/layer.tar', target: '../def/layer.tar'},
      {type: 'file', path: 'def/layer.tar', data: gzipSync(layer?.data ?? Buffer.alloc(0))},
      {type: 'file', path: 'config.json', data: config?.data ?? Buffer.alloc(0)},
      json('manifest.json', [{Config: 'config.json', RepoTags: ['docker:2'], Layers: ['abc/layer.tar']}]),
    ]);
    expect(await load(testbed, docker)).toEqual({
      stdout: 'docker.io/library/docker:2\n',
      stderr: '',
      exitCode: 0,
    });
    const {manifest, blobs} = buildOciImage({
      names: [],
      architecture: ARCHITECTURE,
      files: [{type: 'file', path: 'x', data: Buffer.from('unnamed')}],
    });
    const unnamed = createTarArchive([
      json('index.json', {
        manifests: [{mediaType: manifest.mediaType, digest: manifest.digest, size: manifest.data.length}],
      }),
      ...[manifest, ...blobs].map(({digest, data}): TarEntry => ({
        type: 'file',
        path: `blobs/${digest.replace(':', '/')}`,
        data,
      })),
    ]);
    expect((await load(testbed, unnamed)).stderr).toMatch(/without a name\nhint: name it with --name/);
    expect(await load(testbed, unnamed, '--name', 'mine')).toMatchObject({
      stdout: 'docker.io/library/mine:latest\n',
    });
  });

  test('reads standard input, and import is another name of it', async () => {
    const testbed = await startImageTestbed();
    const stdin = anArchive().toString('latin1');
    // The archive is ASCII.
    for (const words of [['load'], ['import', '-'], ['load', '-i', '-']])
      expect(await testbed.run(['image', ...words], {stdin})).toMatchObject({
        stdout: `${NEW}\n`,
        exitCode: 0,
      });
    expect((await testbed.run(['image', 'load', '-', '-'])).stderr).toContain('read only once');
    expect((await testbed.run(['image', 'load', '/nonexistent'])).stderr).toMatch(/reading "\/nonexistent"/);
  });

  test('leaves nothing of a hostile or damaged archive behind', async () => {
    const {manifest, blobs} = anOciImage(Buffer.from('hostile'));
    const descriptor = {mediaType: manifest.mediaType, digest: manifest.digest, size: manifest.data.length};
    const index = (entry: object) => json('index.json', {manifests: [{...descriptor, ...entry}]});
    const blob = (digest: string, data: Uint8Array): TarEntry => ({
      type: 'file',
      path: `blobs/${digest.replace(':', '/')}`,
      data,
    });
    const files = [manifest, ...blobs].map(({digest, data}) => blob(digest, data));
    const named = {annotations: {'io.containerd.image.name': NEW}};
    const wrongDigest = blob(`sha256:${'1'.repeat(64)}`, Buffer.from('other'));
    const whole = anArchive();
    const cases: readonly (readonly [string, Uint8Array, RegExp])[] = [
      ['no archive', Buffer.alloc(4096, 'x'), /not a tar archive/],
      ['empty', Buffer.alloc(0), /the archive is empty/],
      ['truncated', whole.subarray(0, 3 * 512 + 100), /incomplete/],
      [
        'zstd',
        Buffer.concat([Buffer.from('28b52ffd', 'hex'), whole]),
        /compressed with zstd\nhint: .*zstd -dc/,
      ],
      [
        'xz',
        Buffer.concat([Buffer.from('fd377a585a00', 'hex'), whole]),
        /compressed with xz\nhint: .*xz -dc/,
      ],
      ['truncated gzip', gzipSync(whole).subarray(0, 200), /damaged or incomplete/],
      ['no list of images', createTarArchive(files), /neither an OCI nor a docker archive/],
      ['invalid JSON', createTarArchive([json('index.json', '{')]), /is not JSON/],
      ['no image', createTarArchive([json('index.json', {manifests: []})]), /contains no image/],
      ['wrong digest', createTarArchive([...files, wrongDigest, index(named)]), /digest is another/],
      ['missing blob', createTarArchive([...files.slice(0, 2), index(named)]), /lacks sha256:/],
      ['wrong size', createTarArchive([...files, index({...named, size: 3})]), /damaged/],
      [
        'path as digest',
        createTarArchive([...files, index({...named, digest: '../../x'})]),
        /invalid reference/,
      ],
      ['path that leaves', createTarArchive([json('../../etc/x.json', {}), index(named)]), /leaves/],
      [
        'docker layer outside',
        createTarArchive([
          {type: 'symlink', path: 'layer.tar', target: '/etc/passwd'},
          json('config.json', {}),
          json('manifest.json', [{Config: 'config.json', RepoTags: ['x'], Layers: ['layer.tar']}]),
        ]),
        /"layer.tar" is missing/,
      ],
      [
        'another type',
        createTarArchive([...files, index({...named, mediaType: 'text/plain'})]),
        /unknown type/,
      ],
    ];
    const testbed = await startImageTestbed();
    const before = contentOf(testbed);
    for (const [title, bytes, message] of cases) {
      testbed.fake.blobs.clear();
      const {stdout, stderr, exitCode} = await load(testbed, bytes);
      expect({title, stdout, exitCode}).toEqual({title, stdout: '', exitCode: 1});
      expect({title, stderr}).toEqual({title, stderr: expect.stringMatching(message) as string});
      expect(stderr).not.toMatch(/^\s+at /m);
      expect({title, ...contentOf(testbed)}).toEqual({title, ...before});
    }
  });

  test('leaves no name, snapshot or lease if a layer cannot be unpacked', async () => {
    const testbed = await startImageTestbed();
    const before = contentOf(testbed);
    testbed.fake.injectError('Diff.Apply', 'UNKNOWN', 'no space left on device');
    expect((await load(testbed, anArchive())).stderr).toContain('no space left on device');
    expect(contentOf(testbed)).toEqual(before);
  });

  test('rejects an image for another platform', async () => {
    const testbed = await startImageTestbed();
    const archive = buildOciArchive({names: [NEW], architecture: 's390x', files: []});
    expect((await load(testbed, archive)).stderr).toMatch(/is for linux\/s390x, not for this machine/);
  });
});

test('on CRI-O, archives need the tools of its storage, and a file', async () => {
  const directory = await temporaryDirectory();
  const runtime = await FakeRuntime.start({profile: 'cri-o'});
  onTestFinished(() => runtime.stop());
  const run = async (...args: string[]) =>
    await runKcri(['image', ...args], {endpoint: runtime.endpoint, env: {PATH: directory}});
  const log = join(directory, 'log');
  expect((await run('save', '-o', '/x', BUSYBOX)).stderr).toMatch(/needs skopeo or podman on CRI-O/);
  expect((await run('save', BUSYBOX)).stderr).toMatch(/only be saved into a file/);
  for (const tool of ['skopeo', 'podman'])
    await writeFile(
      join(directory, tool),
      `#!/bin/sh\necho "${tool} $*" > ${log}\necho "Loaded image: ${NEW}"\n`,
      {
        mode: 0o755,
      },
    );
  expect(await run('save', '-o', '/x', BUSYBOX)).toMatchObject({exitCode: 0});
  expect(await readFile(log, 'utf8')).toBe(
    `skopeo copy --quiet containers-storage:${BUSYBOX} docker-archive:/x:${BUSYBOX}\n`,
  );
  expect(await run('load', '/x')).toMatchObject({stdout: `${NEW}\n`, exitCode: 0});
  expect(await readFile(log, 'utf8')).toBe('podman load --quiet --input /x\n');
  expect((await run('load')).stderr).toMatch(/only from a file/);
});
