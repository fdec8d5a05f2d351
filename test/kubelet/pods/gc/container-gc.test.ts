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
import {aSandboxStatus, aStatus, anInstance} from '../../pod-builders.js';

/** Dead instances `name-attempt`, newest first, made in the second of that number. */
function dead(name: string, ...attempts: readonly number[]): readonly RuntimeContainerStatus[] {
  return attempts.map((restartCount) => {
    const instance = anInstance(name, 'CONTAINER_EXITED', {restartCount});
    return {...instance, cri: {...instance.cri, createdAt: BigInt(restartCount) * 1_000_000_000n}};
  });
}

function gone(
  statuses: readonly RuntimePodStatus[],
  policy: Partial<ContainerGcPolicy>,
  {isUnwanted = false, now = 100_000} = {},
): readonly string[] {
  const remains = statuses.map((status) => ({status, isUnwanted}));
  return computeContainerGcActions(remains, {...DEFAULT_CONTAINER_GC_POLICY, ...policy}, now).flatMap(
    ({containers}) => containers.map(({id}) => id),
  );
}

test.for<[string, readonly (readonly RuntimeContainerStatus[])[], Partial<ContainerGcPolicy>, string[]]>([
  ['one instance of each container stays', [[...dead('a', 2, 1, 0), ...dead('b', 0)]], {}, ['a-1', 'a-0']],
  ['as many stay as may', [dead('a', 2, 1, 0)], {maxPerContainer: 2}, ['a-0']],
  ['none stays when none may', [dead('a', 1, 0)], {maxPerContainer: 0}, ['a-1', 'a-0']],
  ['any number stays without a limit', [dead('a', 2, 1, 0)], {maxPerContainer: -1}, []],
  [
    'what is younger than that neither goes nor counts',
    [dead('a', 91, 90, 89)],
    {minAgeMs: 10_000},
    ['a-89'],
  ],
  [
    'the limit for all pods is shared out evenly',
    [dead('a', 3, 2, 1), dead('b', 1, 0)],
    {maxPerContainer: 5, maxContainers: 4},
    ['a-1'],
  ],
  [
    'when one of each is too many, those with the fewest restarts go first',
    [dead('a', 3, 2), dead('b', 1, 0), dead('c', 2)],
    {maxPerContainer: 5, maxContainers: 2},
    ['a-2', 'b-1', 'b-0'],
  ],
  ['nothing goes while there are not too many', [dead('a', 1), dead('b', 1)], {maxContainers: 2}, []],
  ['no container may stay', [dead('a', 1), dead('b', 1)], {maxContainers: 0}, ['a-1', 'b-1']],
])('of dead containers %s', ([, pods, policy, expected]) => {
  expect(
    gone(
      pods.map((containers) => aStatus(containers)),
      policy,
    ),
  ).toEqual(expected);
});

test('only what has exited or is in no known state is dead', () => {
  const containers = (['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_UNKNOWN'] as const).map((state) =>
    anInstance(state, state),
  );
  expect(gone([aStatus(containers)], {maxPerContainer: 0})).toEqual(['CONTAINER_UNKNOWN-0']);
});

test('of a pod that nobody wants nothing dead stays, whatever else may, unless it is too young', () => {
  const status = aStatus(dead('a', 99, 1));
  const policy = {maxPerContainer: 5, minAgeMs: 10_000};
  expect(gone([status], policy, {isUnwanted: true})).toEqual(['a-1']);
  expect(gone([status], {maxPerContainer: 5}, {isUnwanted: true})).toEqual(['a-99', 'a-1']);
});

test('a sandbox that is not ready goes when it has no containers left and is not the newest', () => {
  const [old] = dead('a', 0);
  const sandboxes = [2, 1, 0].map((attempt) => aSandboxStatus({attempt, state: 'SANDBOX_NOTREADY'}));
  const status = aStatus([...dead('a', 1), {...old!, sandboxId: podSandboxId('sandbox-1')}], sandboxes);
  const sandboxesOf = (isUnwanted: boolean, policy = DEFAULT_CONTAINER_GC_POLICY) =>
    computeContainerGcActions([{status, isUnwanted}], policy, 0)[0]?.sandboxes;
  expect(sandboxesOf(false)).toEqual(['sandbox-1']);
  expect(sandboxesOf(false, {...DEFAULT_CONTAINER_GC_POLICY, maxPerContainer: 2})).toEqual([]);
  expect(sandboxesOf(true)).toEqual(['sandbox-2', 'sandbox-1', 'sandbox-0']);
});

test('when a container dies one instance of it stays at least, and as many as may', () => {
  const remains = {status: aStatus(dead('a', 2, 1, 0)), isUnwanted: false};
  const left = (maxPerContainer: number) =>
    computeContainersToDelete(remains, {...DEFAULT_CONTAINER_GC_POLICY, maxPerContainer}).map(({id}) => id);
  expect([left(-1), left(0), left(2)]).toEqual([['a-1', 'a-0'], ['a-1', 'a-0'], ['a-0']]);
  expect(computeContainersToDelete({...remains, isUnwanted: true}, DEFAULT_CONTAINER_GC_POLICY)).toHaveLength(
    3,
  );
});
