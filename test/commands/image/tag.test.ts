import {chmod, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri} from '../../cli/run-kcri.js';
import {anImage, BUSYBOX, FakeRuntime} from '../../fakes/fake-runtime.js';
import {anOciImage, APP, startImageTestbed} from './image-testbed.js';

const OTHER = 'registry.example/team/other:2';

describe('image tag', () => {
  // Proves: image tag
  test('gives an image a further name, completed as docker does', async () => {
    const {fake, run} = await startImageTestbed();
    expect(await run(['image', 'tag', APP, 'tools'])).toEqual({
      stdout: 'docker.io/library/tools:latest\n',
      stderr: '',
      exitCode: 0,
    });
    const tagged = fake.images.get('docker.io/library/tools:latest');
    expect(tagged?.target).toMatchObject({digest: fake.images.get(APP)?.target.digest});
    expect(tagged?.labels).toEqual({'io.cri-containerd.image': 'managed'});
    expect((await run(['images', '--digests'])).stdout).toMatch(/^docker\.io\/library\/tools /m);
  });

  test('accepts an ID, and moves a name from another image with a message', async () => {
    const {fake, run} = await startImageTestbed();
    fake.addImage(OTHER, anOciImage(Buffer.from('other')));
    const id = (await run(['images', '-q', '--no-trunc', APP])).stdout.trim();
    expect(await run(['image', 'tag', id, OTHER])).toEqual({
      stdout: `${OTHER}\n`,
      stderr: `${OTHER} belonged to another image before\n`,
      exitCode: 0,
    });
    expect(fake.images.get(OTHER)?.target.digest).toBe(fake.images.get(APP)?.target.digest);
  });

  test('rejects invalid names and unknown images', async () => {
    const {run} = await startImageTestbed();
    const digest = `x@sha256:${'0'.repeat(64)}`;
    for (const [args, text] of [
      [[], 'an image and its new name are required'],
      [[APP], 'an image and its new name are required'],
      [[APP, 'UPPER'], 'invalid image name "UPPER"'],
      [[APP, digest], 'has a digest'],
      [['nope', 'x'], 'no such image "nope"'],
    ] as const) {
      const {stdout, stderr, exitCode} = await run(['image', 'tag', ...args]);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      expect(stderr).toContain(text);
    }
  });
});

describe('image untag', () => {
  // Proves: image untag
  test('removes one name and says what remains', async () => {
    const {fake, run} = await startImageTestbed();
    await run(['image', 'tag', APP, OTHER]);
    const {stdout, stderr, exitCode} = await run(['image', 'untag', APP]);
    expect({stdout, exitCode}).toEqual({stdout: `Untagged: ${APP}\n`, exitCode: 0});
    expect(stderr).toMatch(new RegExp(`^the image \\w{13} remains as ${OTHER}\n$`));
    expect([...fake.images.keys()]).toEqual([OTHER]);
  });

  test('keeps the last name of an image', async () => {
    const {fake, run} = await startImageTestbed();
    const {stderr, exitCode} = await run(['image', 'untag', APP]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/is the last name of the image sha256:.*\nhint: run "kcri rmi /);
    expect([...fake.images.keys()]).toEqual([APP]);
  });
});

describe('on other runtimes', () => {
  test('CRI-O needs podman or buildah to tag, and nothing to untag', async () => {
    const directory = await temporaryDirectory();
    const image = {...anImage(), repoTags: [BUSYBOX, 'localhost:5000/extra:1']};
    await using runtime = await FakeRuntime.start({profile: 'cri-o', images: [image]});
    const env = {PATH: directory};
    const run = async (...args: string[]) => await runKcri(args, {endpoint: runtime.endpoint, env});
    expect((await run('image', 'tag', BUSYBOX, 'x')).stderr).toMatch(
      /"kcri image tag" needs podman or buildah on CRI-O.*\nhint: install podman/,
    );
    const log = join(directory, 'log');
    await writeFile(join(directory, 'podman'), `#!/bin/sh\necho "$@" > ${log}\n`);
    await chmod(join(directory, 'podman'), 0o755);
    expect(await run('image', 'tag', BUSYBOX, 'x')).toMatchObject({
      stdout: 'docker.io/library/x:latest\n',
      exitCode: 0,
    });
    expect(await readFile(log, 'utf8')).toMatch(/^tag [0-9a-f]{64} docker\.io\/library\/x:latest\n$/);
    expect(await run('image', 'untag', 'localhost:5000/extra:1')).toMatchObject({exitCode: 0});
    expect(runtime.images[0]?.repoTags).toEqual([BUSYBOX]);
  });

  test('another runtime gets an error with a hint', async () => {
    await using docker = await FakeRuntime.start({profile: 'cri-dockerd'});
    await using other = await FakeRuntime.start();
    const args = ['image', 'tag', BUSYBOX, 'x'];
    expect((await runKcri(args, {endpoint: docker.endpoint})).stderr).toMatch(
      /^kcri: "kcri image tag" needs containerd or CRI-O, and the runtime is docker .*\nhint: run "docker tag"\n$/,
    );
    expect((await runKcri(args, {endpoint: other.endpoint})).stderr).toMatch(
      /"kcri image tag" needs containerd's API, which .* does not have\nhint: /,
    );
  });
});

test('crictl has no subcommands of image: it lists images of that name', async () => {
  const {fake, run} = await startImageTestbed();
  fake.addImage('docker.io/library/untag:1', anOciImage(Buffer.from('untag')));
  const {stdout} = await run(['image', 'untag'], {env: {KCRI_COMPAT: 'crictl'}});
  expect(stdout).toMatch(/^IMAGE .*\ndocker.io\/library\/untag /);
});
