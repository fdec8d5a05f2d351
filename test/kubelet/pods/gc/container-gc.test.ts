import {expect, test} from 'vitest';
import type {
  RuntimeContainerStatus,
  RuntimePodStatus,
} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import {
  DEFAULT_CONTAINER_GC_POLICY,
  computeContainersToDelete,
  computeContainerGcActions,
  type ContainerGcPolicy,
} from '../../../../src/kubelet/pods/gc/container-gc.js';
import {podSandboxId} from '../../../../src/cri/index.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../fakes/a-runtime-pod.js';

/** Returns dead instances `name-attempt`, newest first; the attempt is also the creation time in seconds. */
function dead(name: string, ...attempts: readonly number[]): readonly RuntimeContainerStatus[] {
  return attempts.map((restartCount) =>
    anInstance(name, 'CONTAINER_EXITED', {restartCount, createdAt: BigInt(restartCount) * 1_000_000_000n}),
  );
}

function removedIds(
  statuses: readonly RuntimePodStatus[],
  policy: Partial<ContainerGcPolicy>,
  {isUnwanted = false, now = 100_000} = {},
): readonly string[] {
  const podRemains = statuses.map((status) => ({status, isUnwanted}));
  return computeContainerGcActions(podRemains, {...DEFAULT_CONTAINER_GC_POLICY, ...policy}, now).flatMap(
    ({containers}) => containers.map(({id}) => id),
  );
}

test.for<[string, readonly (readonly RuntimeContainerStatus[])[], Partial<ContainerGcPolicy>, string[]]>([
  [
    'keeps one instance of each container by default',
    [[...dead('a', 2, 1, 0), ...dead('b', 0)]],
    {},
    ['a-1', 'a-0'],
  ],
  ['keeps maxPerContainer instances of each container', [dead('a', 2, 1, 0)], {maxPerContainer: 2}, ['a-0']],
  ['keeps none with maxPerContainer 0', [dead('a', 1, 0)], {maxPerContainer: 0}, ['a-1', 'a-0']],
  ['keeps all with a negative maxPerContainer', [dead('a', 2, 1, 0)], {maxPerContainer: -1}, []],
  [
    'neither removes nor counts containers younger than minAgeMs',
    [dead('a', 91, 90, 89)],
    {minAgeMs: 10_000},
    ['a-89'],
  ],
  [
    'divides maxContainers evenly among all containers',
    [dead('a', 3, 2, 1), dead('b', 1, 0)],
    {maxPerContainer: 5, maxContainers: 4},
    ['a-1'],
  ],
  [
    'removes the oldest instances when one per container exceeds maxContainers',
    [dead('a', 3, 2), dead('b', 1, 0), dead('c', 2)],
    {maxPerContainer: 5, maxContainers: 2},
    ['a-2', 'b-1', 'b-0'],
  ],
  ['removes nothing within maxContainers', [dead('a', 1), dead('b', 1)], {maxContainers: 2}, []],
  ['removes all with maxContainers 0', [dead('a', 1), dead('b', 1)], {maxContainers: 0}, ['a-1', 'b-1']],
])('container GC %s', ([, pods, policy, expected]) => {
  expect(
    removedIds(
      pods.map((containers) => aRuntimePod(containers)),
      policy,
    ),
  ).toEqual(expected);
});

test('only exited and unknown containers are dead', () => {
  const containers = (['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_UNKNOWN'] as const).map((state) =>
    anInstance(state, state),
  );
  expect(removedIds([aRuntimePod(containers)], {maxPerContainer: 0})).toEqual(['CONTAINER_UNKNOWN-0']);
});

test('all dead containers of an unwanted pod are removed whatever the limits, except those younger than minAgeMs', () => {
  const status = aRuntimePod(dead('a', 99, 1));
  const policy = {maxPerContainer: 5, minAgeMs: 10_000};
  expect(removedIds([status], policy, {isUnwanted: true})).toEqual(['a-1']);
  expect(removedIds([status], {maxPerContainer: 5}, {isUnwanted: true})).toEqual(['a-99', 'a-1']);
});

test('a sandbox that is not ready is removed if it has no containers and is not the newest', () => {
  const [old] = dead('a', 0);
  const sandboxes = [2, 1, 0].map((attempt) => aSandboxStatus({attempt, state: 'SANDBOX_NOTREADY'}));
  const status = aRuntimePod([...dead('a', 1), {...old!, sandboxId: podSandboxId('sandbox-1')}], {sandboxes});
  const sandboxesOf = (isUnwanted: boolean, policy = DEFAULT_CONTAINER_GC_POLICY) =>
    computeContainerGcActions([{status, isUnwanted}], policy, 0)[0]?.sandboxes;
  expect(sandboxesOf(false)).toEqual(['sandbox-1']);
  expect(sandboxesOf(false, {...DEFAULT_CONTAINER_GC_POLICY, maxPerContainer: 2})).toEqual([]);
  expect(sandboxesOf(true)).toEqual(['sandbox-2', 'sandbox-1', 'sandbox-0']);
});

test('the deletion after a container dies keeps at least one instance of it, and up to maxPerContainer', () => {
  const podRemains = {status: aRuntimePod(dead('a', 2, 1, 0)), isUnwanted: false};
  const left = (maxPerContainer: number) =>
    computeContainersToDelete(podRemains, {...DEFAULT_CONTAINER_GC_POLICY, maxPerContainer}).map(
      ({id}) => id,
    );
  expect([left(-1), left(0), left(2)]).toEqual([['a-1', 'a-0'], ['a-1', 'a-0'], ['a-0']]);
  expect(
    computeContainersToDelete({...podRemains, isUnwanted: true}, DEFAULT_CONTAINER_GC_POLICY),
  ).toHaveLength(3);
});
