import {describe, expect, test} from 'vitest';
import {connect} from '../../../src/cri/index.js';
import {resolveImages, resolvePod} from '../../../src/operations/resolve/resolve-by-lists.js';
import {
  resolveContainer,
  resolveContainers,
  resolveSandboxes,
} from '../../../src/operations/resolve/resolve-names.js';
import {FakeRuntime, aContainer, aSandbox, anImage} from '../../fakes/fake-runtime.js';

const signal = new AbortController().signal;
const id = (start: string): string => start.padEnd(64, '0');

/** Returns a container as crictl creates it: without the labels by which the kubelet links it to its pod. */
function unlabelled(seed: Parameters<typeof aContainer>[0]): ReturnType<typeof aContainer> {
  const built = aContainer(seed);
  return {...built, config: {...built.config, labels: {}}};
}

const APP = anImage({name: 'registry.example/team/app:1'});
const TOOLS = anImage({name: 'registry.example/tools:2'});

/**
 * Starts a runtime with two pods that each have a container main, one of them without labels, and a container of
 * another image.
 */
async function started() {
  const web = aSandbox({id: id('aa1'), name: 'web', attempt: 1, createdAt: 2n});
  const old = aSandbox({id: id('aa0'), name: 'web', state: 'SANDBOX_NOTREADY', createdAt: 1n});
  const raw = aSandbox({id: id('bb1'), name: 'raw', namespace: 'team', uid: 'uid-of-raw'});
  const runtime = await FakeRuntime.start({
    images: [APP, TOOLS],
    sandboxes: [web, old, raw],
    containers: [
      aContainer({id: id('c1'), sandbox: web, name: 'main', image: 'registry.example/team/app:1'}),
      unlabelled({id: id('c2'), sandbox: raw, name: 'main', image: 'registry.example/team/app:1'}),
      unlabelled({id: id('c3'), sandbox: raw, name: 'side', image: TOOLS.id}),
    ],
  });
  const cri = connect(runtime.endpoint);
  const stop = async (): Promise<void> => {
    cri.close();
    await runtime.stop();
  };
  return {runtime, cri, [Symbol.asyncDispose]: stop};
}

describe('containers created without a kubelet', () => {
  test.each(['raw/main', 'team/raw/main'])('are resolved with their pod by %s', async (ref) => {
    await using scene = await started();
    const {runtime, cri} = scene;
    expect(await resolveContainer(cri.runtime, ref, {signal})).toBe(id('c2'));
    expect(runtime.calls.map(({method}) => method)).toEqual(['ListContainers', 'ListPodSandbox']);
  });

  test('are listed with their pods as candidates', async () => {
    await using scene = await started();
    await expect(resolveContainer(scene.cri.runtime, 'main', {signal})).rejects.toMatchObject({
      code: 'AMBIGUOUS',
      hint: expect.stringMatching(/c1\w+ \(default\/web\/main\), c2\w+ \(team\/raw\/main\)$/) as string,
    });
  });

  test('need no further call if labels suffice', async () => {
    await using scene = await started();
    const {runtime, cri} = scene;
    expect(await resolveContainer(cri.runtime, 'web/main', {signal})).toBe(id('c1'));
    expect(runtime.calls.map(({method}) => method)).toEqual(['ListContainers']);
  });
});

describe('an image as container reference', () => {
  test.each(['registry.example/tools', 'registry.example/tools:2', TOOLS.id, TOOLS.id.slice(0, 19)])(
    '%s resolves to the only container that uses it',
    async (ref) => {
      await using scene = await started();
      const {runtime, images} = scene.cri;
      expect(await resolveContainer(runtime, ref, {signal, images})).toBe(id('c3'));
    },
  );

  test('that several containers use is ambiguous', async () => {
    await using scene = await started();
    const {runtime, images} = scene.cri;
    const resolving = resolveContainer(runtime, 'registry.example/team/app', {signal, images});
    await expect(resolving).rejects.toThrow('"registry.example/team/app" matches 2 containers');
  });

  test('prefers running containers', async () => {
    await using scene = await started();
    scene.runtime.exitContainer(id('c1'), 0);
    const {runtime, images} = scene.cri;
    expect(await resolveContainer(runtime, 'registry.example/team/app:1', {signal, images})).toBe(id('c2'));
  });

  test('is matched with the container’s config if the image was removed', async () => {
    await using scene = await started();
    scene.runtime.state.images.clear();
    scene.runtime.exitContainer(id('c2'), 0);
    const {runtime, images} = scene.cri;
    expect(await resolveContainer(runtime, 'registry.example/team/app', {signal, images})).toBe(id('c1'));
  });

  test('needs one ListImages call for all references', async () => {
    await using scene = await started();
    const {runtime, images} = scene.cri;
    const targets = await resolveContainers(runtime, ['registry.example/tools', 'nope', 'nor'], {
      signal,
      images,
    });
    expect(targets.map(({kind}) => kind)).toEqual(['found', 'missing', 'missing']);
    expect(scene.runtime.callsTo('ListImages')).toHaveLength(1);
  });
});

describe('resolvePod', () => {
  test.each([
    ['web', ['aa1', 'aa0']],
    ['default/web', ['aa1', 'aa0']],
    ['aa0', ['aa0']],
    ['uid-of-raw', ['bb1']],
  ])('%s resolves to %j', async (ref, starts) => {
    await using scene = await started();
    expect(await resolvePod(scene.cri.runtime, ref, signal)).toEqual(starts.map(id));
  });

  test('rejects an unknown pod', async () => {
    await using scene = await started();
    await expect(resolvePod(scene.cri.runtime, 'nope', signal)).rejects.toThrow('no such pod "nope"');
  });
});

test('literal references are not resolved', async () => {
  await using scene = await started();
  const {runtime, cri} = scene;
  expect(await resolveContainers(cri.runtime, ['web/main'], {signal, literal: true})).toMatchObject([
    {kind: 'found', id: 'web/main'},
  ]);
  expect(await resolveSandboxes(cri.runtime, ['web'], {signal, literal: true})).toMatchObject([{id: 'web'}]);
  expect(runtime.calls).toEqual([]);
});

describe('resolveImages', () => {
  const images = [
    anImage({name: 'registry.example/app:1'}),
    anImage({name: 'registry.example/app:latest'}),
    anImage({name: 'registry.example/tools:2'}),
    anImage({name: 'registry.example/many:1'}),
    anImage({name: 'registry.example/many:2'}),
  ];
  const [one, latest, tools] = images.map((image) => image.id);

  test.each([
    ['registry.example/app:1', one],
    ['registry.example/app', latest],
    ['registry.example/tools', tools],
    [tools!.slice(0, 20), tools],
    ['registry.example/nope', 'registry.example/nope'],
  ])('%s resolves to %s', async (ref, expected) => {
    await using runtime = await FakeRuntime.start({images});
    using cri = connect(runtime.endpoint);
    expect(await resolveImages(cri.images, [ref], signal)).toMatchObject([
      {kind: 'found', ref, id: expected},
    ]);
  });

  test('a name with several tags is ambiguous', async () => {
    await using runtime = await FakeRuntime.start({images});
    using cri = connect(runtime.endpoint);
    await expect(resolveImages(cri.images, ['registry.example/many'], signal)).rejects.toMatchObject({
      message: '"registry.example/many" matches 2 images',
      hint: 'use one of registry.example/many:1, registry.example/many:2',
    });
  });
});
