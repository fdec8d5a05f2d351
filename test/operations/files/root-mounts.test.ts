import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {containerId, type ContainerStatusResponse} from '../../../src/cri/index.js';
import {findRootMount} from '../../../src/operations/files/root-mounts.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

const LAYER = 'a'.repeat(64);

async function statusWithRoot(path: string): Promise<ContainerStatusResponse> {
  return await Promise.resolve({info: {info: JSON.stringify({runtimeSpec: {root: {path}}})}});
}

test('the layers of a container of CRI-O are found by its root directory', async () => {
  await using runtime = await FakeRuntime.start({profile: 'cri-o'});
  const overlay = join(await temporaryDirectory(), 'overlay');
  await mkdir(join(overlay, LAYER), {recursive: true});
  await writeFile(join(overlay, LAYER, 'lower'), 'l/AAA:l/BBB');
  const {signal} = new AbortController();
  const source = {endpoint: runtime.endpoint, signal};
  const status = await statusWithRoot(join(overlay, LAYER, 'merged'));
  expect(await findRootMount({id: containerId('x')}, status, source)).toEqual({
    type: 'overlay',
    source: 'overlay',
    options: [
      `lowerdir=${overlay}/l/AAA:${overlay}/l/BBB`,
      `upperdir=${overlay}/${LAYER}/diff`,
      `workdir=${overlay}/${LAYER}/work`,
    ],
  });
  expect(await findRootMount({id: containerId('x')}, await statusWithRoot('rootfs'), source)).toBeUndefined();
});
