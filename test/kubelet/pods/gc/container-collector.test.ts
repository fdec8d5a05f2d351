import {expect, test} from 'vitest';
import {podUid} from '../../../../src/cri/index.js';
import type {ContainerGcActions} from '../../../../src/kubelet/contract/container-gc-actions.js';
import type {RuntimeContainerStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import {
  ContainerCollector,
  type ContainerCollectorOptions,
} from '../../../../src/kubelet/pods/gc/container-collector.js';
import {DEFAULT_CONTAINER_GC_POLICY} from '../../../../src/kubelet/pods/gc/container-gc.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {UID} from '../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../fakes/a-runtime-pod.js';

const uid = podUid(UID);
const RULES = {policy: DEFAULT_CONTAINER_GC_POLICY, now: 0, isUnwanted: () => true};
const A = anInstance('a', 'CONTAINER_EXITED');
const B = anInstance('b', 'CONTAINER_EXITED');

/** Returns a collector of one pod whose removals are recorded. `dead` is what the pod has in the runtime's last status. */
function createCollector() {
  const log: string[] = [];
  const world: {dead: readonly RuntimeContainerStatus[]; error: Error | undefined} = {
    dead: [A],
    error: undefined,
  };
  const removeGarbage = async ({containers}: ContainerGcActions): Promise<void> => {
    const names = containers.map(({name}) => name).join(' ');
    log.push(`begin ${names}`);
    await new Promise((resolve) => setImmediate(resolve));
    if (world.error !== undefined) throw world.error;
    log.push(`removed ${names}`);
  };
  const own = {getPresent: () => ({uid}), ensureSyncer: () => ({removeGarbage})};
  const collector = new ContainerCollector({
    own: own as unknown as ContainerCollectorOptions['own'],
    lastSeen: () => aRuntimePod(world.dead),
    isRemoved: () => false,
    logger: fakeLogger({
      info: () => undefined,
      error: (error, message) => void log.push(`${message}: ${(error as Error).message}`),
    }),
  });
  return {collector, log, world, remove: async () => collector.removeDeadContainers(uid, RULES)};
}

test('removals of one pod are serialized', async () => {
  const {log, world, remove} = createCollector();
  const first = remove();
  world.dead = [B];
  await Promise.all([first, remove()]);
  expect(log).toEqual(['begin a', 'removed a', 'begin b', 'removed b']);
});

test('a container that the previous removal has removed is not removed again', async () => {
  const {log, world, remove} = createCollector();
  const first = remove();
  const second = remove();
  world.dead = [A, B];
  await Promise.all([first, second, remove()]);
  expect(log).toEqual(['begin a', 'removed a', 'begin b', 'removed b']);
});

test('a failed removal is logged, and the next removal retries it', async () => {
  const {log, world, remove} = createCollector();
  world.error = new Error('busy');
  await remove();
  world.error = undefined;
  await remove();
  expect(log).toEqual(['begin a', 'Failed to remove dead containers: busy', 'begin a', 'removed a']);
});

test('waitForRemovals waits for the last removal', async () => {
  const {collector, log, world, remove} = createCollector();
  void remove(); // never rejects
  world.dead = [B];
  void remove(); // never rejects
  await collector.waitForRemovals(uid);
  expect(log.at(-1)).toBe('removed b');
});
