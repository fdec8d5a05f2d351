import {expect, test} from 'vitest';
import {APP, aRuntime, aScene, refused} from './image-scene.js';

/** A scene and what is counted in it. */
async function counted(runtime = aRuntime()) {
  const scene = await aScene(runtime);
  const ensured: string[] = [];
  const pulls: string[] = [];
  scene.manager.count({
    imageEnsured: ({pullPolicy, isPresent, mustPull}) =>
      ensured.push(`${pullPolicy} ${String(isPresent)} ${String(mustPull)}`),
    imagePulled: (sizeBytes, durationMs) => pulls.push(`${sizeBytes} ${durationMs}`),
  });
  return {...scene, ensured, pulls};
}

test.each([
  ['IfNotPresent', true, 'IfNotPresent true false', 0],
  ['IfNotPresent', false, 'IfNotPresent false true', 1],
  ['Always', true, 'Always undefined true', 1],
  ['Never', true, 'Never true false', 0],
  ['Never', false, 'Never false false', 0],
] as const)('%s of an image that is there: %s, is counted as %s', async (pullPolicy, there, told, pulls) => {
  const scene = await counted();
  if (there) scene.present.add(APP);
  await scene.ensure({pullPolicy});
  expect(scene.ensured).toEqual([told]);
  expect(scene.pulls).toHaveLength(pulls);
});

test('a pull is counted with its size and how long it took, and one that fails is not', async () => {
  const runtime = aRuntime((image) => {
    scene.clock.pass(1234);
    if (image !== APP) throw refused('NOT_FOUND', 'gone');
  });
  const scene: Awaited<ReturnType<typeof counted>> = await counted(runtime);
  await scene.ensure();
  await scene.ensure({image: 'r.example/other:1'});
  expect(scene.pulls).toEqual(['1032138 1234']);
});
