import {describe, expect, test} from 'vitest';
import {aContainerSpec, aManifest, aScene, type PodScene} from '../../../commands/pod-scene.js';
import {aContainer, aSandbox} from '../../../fakes/fake-runtime.js';
import {DaemonTestbed, NOTHING_LEFT} from '../daemon-testbed.js';

/** Somebody else's pod that looks much like ours: only its UID, or that it has no label, tells them apart. */
const NEIGHBOURS = [
  aSandbox({name: 'web', namespace: 'default', uid: 'neighbour-uid'}),
  aSandbox({name: 'bare', namespace: 'default', uid: 'bare-uid', labels: {}}),
  aSandbox({name: 'stopped', namespace: 'default', uid: 'stopped-uid', state: 'SANDBOX_NOTREADY'}),
];
const THEIRS = NEIGHBOURS.flatMap((sandbox) => [
  aContainer({sandbox, name: 'main'}),
  aContainer({sandbox, name: 'main', attempt: 1, state: 'CONTAINER_EXITED', exitCode: 1}),
  aContainer({sandbox, name: 'lost', state: 'CONTAINER_UNKNOWN'}),
]);
const UNHEEDING = {ignoresFilters: true, sandboxes: NEIGHBOURS, containers: THEIRS};
const CHANGES = /^(Stop|Remove|Create|Start|Exec|Update|Reopen|Checkpoint)/;

/** The changing calls that named something of a neighbour, with its name. */
function touched({calls}: PodScene['runtime']): readonly string[] {
  const ids = [...NEIGHBOURS, ...THEIRS].map(({id}) => id);
  return calls
    .filter(({method}) => CHANGES.test(method))
    .flatMap(({method, request}) => {
      const id = ids.find((known) => JSON.stringify(request).includes(known));
      return id === undefined ? [] : [`${method} ${id}`];
    });
}

describe('with a runtime that gives everything whatever it is asked for', () => {
  test('sync and delete touch nothing but their pod', async () => {
    const scene = await aScene(UNHEEDING);
    const before = scene.runtime.containers.length;
    const manifest = aManifest({name: 'mine'});

    for (const words of [
      ['sync', '-'],
      ['sync', '-'],
      ['delete', 'mine'],
    ]) {
      const {exitCode, stderr} = await scene.run(words, {stdin: manifest});
      expect({exitCode, stderr}).toMatchObject({exitCode: 0});
    }

    expect(touched(scene.runtime)).toEqual([]);
    expect(scene.runtime.containers).toHaveLength(before);
    const {sandboxes, containers, ...own} = await scene.listLeftovers();
    expect([sandboxes?.length, containers?.length]).toEqual([NEIGHBOURS.length, THEIRS.length]);
    expect(own).toEqual({records: [], podDirs: [], locks: [], logs: []});
  });

  test('a pod is not taken to run because others do', async () => {
    const scene = await aScene(UNHEEDING);
    await scene.run(['sync', '-'], {stdin: aManifest({name: 'mine'})});
    expect(scene.mutatingCalls).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
  });

  test.each([
    ['relists', false],
    ['events', true],
  ])('the daemon with %s keeps, restarts, cleans up and ends its own pod only', async (_, eventedPleg) => {
    await using ground = await DaemonTestbed.start({eventedPleg, runtime: UNHEEDING});
    await ground.put('mine.json', aManifest({name: 'mine', containers: [aContainerSpec('only')]}));
    await ground.until('the pod runs', () => ground.statusOf('mine').ready === 1);
    for (const restarts of [1, 2, 3]) {
      ground.kill('only');
      await ground.until('it runs again', () => ground.statusOf('mine').restarts === restarts);
    }
    await ground.until('older instances are gone', () => count(ground, 'only') <= 2);
    await ground.clock.sleep(2 * 60_000);
    await ground.remove('mine.json');
    await ground.until('the pod is gone', async () => (await ground.listRemains())['records']?.length === 0);

    expect(touched(ground.fake)).toEqual([]);
    expect(ground.fake.containers).toHaveLength(THEIRS.length);
    expect(await ground.listRemains()).toMatchObject({
      podDirs: NOTHING_LEFT.podDirs,
      logs: NOTHING_LEFT.logs,
    });
  });
});

function count({fake}: DaemonTestbed, name: string): number {
  return fake.containers.filter(({config}) => config.metadata?.name === name).length;
}
