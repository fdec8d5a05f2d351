import {describe, expect, test} from 'vitest';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  type CommandTestbed,
} from '../../../commands/command-testbed.js';
import {aContainer, aSandbox} from '../../../fakes/fake-runtime.js';
import {DaemonTestbed, NOTHING_REMAINS} from '../daemon-testbed.js';

/** Pods of other clients that differ from ours only in their UID or in missing labels. */
const FOREIGN_SANDBOXES = [
  aSandbox({name: 'web', namespace: 'default', uid: 'foreign-uid'}),
  aSandbox({name: 'bare', namespace: 'default', uid: 'bare-uid', labels: {}}),
  aSandbox({name: 'stopped', namespace: 'default', uid: 'stopped-uid', state: 'SANDBOX_NOTREADY'}),
];
const FOREIGN_CONTAINERS = FOREIGN_SANDBOXES.flatMap((sandbox) => [
  aContainer({sandbox, name: 'main'}),
  aContainer({sandbox, name: 'main', attempt: 1, state: 'CONTAINER_EXITED', exitCode: 1}),
  aContainer({sandbox, name: 'lost', state: 'CONTAINER_UNKNOWN'}),
]);
const IGNORES_FILTERS = {ignoresFilters: true, sandboxes: FOREIGN_SANDBOXES, containers: FOREIGN_CONTAINERS};
const MUTATING_CALLS = /^(Stop|Remove|Create|Start|Exec|Update|Reopen|Checkpoint)/;

/** Returns the mutating calls with an ID of a foreign pod or container. */
function callsToForeignPods({calls}: CommandTestbed['runtime']): readonly string[] {
  const ids = [...FOREIGN_SANDBOXES, ...FOREIGN_CONTAINERS].map(({id}) => id);
  return calls
    .filter(({method}) => MUTATING_CALLS.test(method))
    .flatMap(({method, request}) => {
      const id = ids.find((known) => JSON.stringify(request).includes(known));
      return id === undefined ? [] : [`${method} ${id}`];
    });
}

describe('with a runtime that ignores list filters', () => {
  test('sync and delete only affect their own pod', async () => {
    const scene = await createTestbed(IGNORES_FILTERS);
    const before = scene.runtime.containers.length;
    const manifest = aManifest({name: 'mine'});

    for (const args of [
      ['sync', '-'],
      ['sync', '-'],
      ['delete', 'mine'],
    ]) {
      const {exitCode, stderr} = await scene.run(args, {stdin: manifest});
      expect({exitCode, stderr}).toMatchObject({exitCode: 0});
    }

    expect(callsToForeignPods(scene.runtime)).toEqual([]);
    expect(scene.runtime.containers).toHaveLength(before);
    const {sandboxes, containers, ...own} = await scene.listLeftovers();
    expect([sandboxes?.length, containers?.length]).toEqual([
      FOREIGN_SANDBOXES.length,
      FOREIGN_CONTAINERS.length,
    ]);
    expect(own).toEqual({records: [], podDirs: [], locks: [], logs: []});
  });

  test('a pod does not count as running because foreign pods are', async () => {
    const scene = await createTestbed(IGNORES_FILTERS);
    await scene.run(['sync', '-'], {stdin: aManifest({name: 'mine'})});
    expect(scene.mutatingCalls).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
  });

  test.each([
    ['relists', false],
    ['events', true],
  ])('the daemon with %s runs, restarts, cleans up and deletes only its own pod', async (_, eventedPleg) => {
    await using testbed = await DaemonTestbed.start({eventedPleg, runtime: IGNORES_FILTERS});
    await testbed.put('mine.json', aManifest({name: 'mine', containers: [aContainerSpec('only')]}));
    await testbed.until('the pod runs', () => testbed.statusOf('mine').ready === 1);
    for (const restarts of [1, 2, 3]) {
      testbed.kill('only');
      await testbed.until('it runs again', () => testbed.statusOf('mine').restarts === restarts);
    }
    await testbed.until('older instances are gone', () => count(testbed, 'only') <= 2);
    await testbed.clock.sleep(2 * 60_000);
    await testbed.remove('mine.json');
    await testbed.until(
      'the pod is gone',
      async () => (await testbed.listRemains())['records']?.length === 0,
    );

    expect(callsToForeignPods(testbed.fake)).toEqual([]);
    expect(testbed.fake.containers).toHaveLength(FOREIGN_CONTAINERS.length);
    expect(await testbed.listRemains()).toMatchObject({
      podDirs: NOTHING_REMAINS.podDirs,
      logs: NOTHING_REMAINS.logs,
    });
  });
});

function count({fake}: DaemonTestbed, name: string): number {
  return fake.containers.filter(({config}) => config.metadata?.name === name).length;
}
