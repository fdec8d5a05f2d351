import {describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {aContainer, anImage, FakeRuntime} from '../fakes/fake-runtime.js';

async function started() {
  return await FakeRuntime.start({
    images: [
      anImage({name: 'registry.k8s.io/pause:3.10', size: 2700, pinned: true}),
      anImage({name: 'docker.io/library/busybox:1.36'}),
    ],
    containers: [aContainer({image: 'docker.io/library/busybox:1.36'})],
  });
}

describe('get images', () => {
  // Proves: get images
  test('lists the images sorted by name', async () => {
    await using runtime = await started();
    const {stdout, stderr, exitCode} = await runKcri(['get', 'images'], {endpoint: runtime.endpoint});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(
      /^IMAGE +TAG +IMAGE ID +SIZE\ndocker.io\/library\/busybox +1.36 +\w{13} +2.17MB\nregistry.k8s.io\/pause +3.10 +\w{13} +2.7kB\n$/,
    );
  });

  // Proves: get images --output, get images --no-headers
  test('-o wide adds the number of containers, and json is a List', async () => {
    await using runtime = await started();
    const {endpoint} = runtime;
    const wide = (await runKcri(['get', 'images', '-o', 'wide', '--no-headers'], {endpoint})).stdout;
    expect(wide).toMatch(/^docker.io\/library\/busybox .* 1\nregistry.k8s.io\/pause .* true .* 0\n$/);
    const json = JSON.parse((await runKcri(['get', 'images', '-o', 'json'], {endpoint})).stdout) as object;
    expect(json).toMatchObject({
      kind: 'List',
      items: expect.arrayContaining([
        expect.objectContaining({sizeBytes: 2700, pinned: true, kind: 'Image'}),
      ]) as unknown,
    });
    const name = ['get', 'images', 'registry.k8s.io/*', '-o', 'name'];
    expect((await runKcri(name, {endpoint})).stdout).toBe('image/registry.k8s.io/pause:3.10\n');
    expect(await runKcri(['get', 'images', 'nope'], {endpoint})).toEqual({
      stdout: '',
      stderr: 'No resources found\n',
      exitCode: 0,
    });
  });
});
