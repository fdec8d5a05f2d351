import {describe, expect, test} from 'vitest';
import {connect, containerId, podSandboxId, podUid, type Container} from '../../../../src/cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../../../src/cri/list-all.js';
import {
  computeLifecycleEvents,
  groupByPod,
  withPodName,
  hasSameStates,
  statesOf,
  type ListedPod,
  type PlegState,
} from '../../../../src/kubelet/managers/pleg/relist-diff.js';
import {readRuntimePodStatus} from '../../../../src/kubelet/managers/kuberuntime/read-runtime-pod-status.js';
import {aContainer, aSandbox, FakeRuntime} from '../../../fakes/fake-runtime.js';

const uid = podUid('uid-1');
const signal = new AbortController().signal;

const states = (...entries: readonly (readonly [string, PlegState])[]): Map<string, PlegState> =>
  new Map(entries);
const stateOf = (state: PlegState | undefined): Map<string, PlegState> =>
  state === undefined ? states() : states(['c1', state]);

describe('a container or sandbox', () => {
  test.each([
    [undefined, undefined, []],
    [undefined, 'running', ['ContainerStarted']],
    [undefined, 'exited', ['ContainerDied']],
    [undefined, 'unknown', []],
    ['running', undefined, ['ContainerDied', 'ContainerRemoved']],
    ['running', 'running', []],
    ['running', 'exited', ['ContainerDied']],
    ['running', 'unknown', []],
    ['exited', undefined, ['ContainerRemoved']],
    ['exited', 'running', ['ContainerStarted']],
    ['exited', 'exited', []],
    ['exited', 'unknown', []],
    ['unknown', undefined, ['ContainerDied', 'ContainerRemoved']],
    ['unknown', 'running', ['ContainerStarted']],
    ['unknown', 'exited', ['ContainerDied']],
    ['unknown', 'unknown', []],
  ] as const)('that was %s and is %s causes %j', (before, after, types) => {
    expect(computeLifecycleEvents(uid, stateOf(before), stateOf(after))).toEqual(
      types.map((type) => ({uid, type, id: 'c1'})),
    );
    expect(hasSameStates(stateOf(before), stateOf(after))).toBe(before === after);
  });
});

test('events of existing containers and sandboxes come first, and containers before sandboxes', () => {
  const before = states(['old', 'running'], ['sandbox', 'running']);
  const after = states(['new', 'running'], ['sandbox', 'exited']);
  expect(computeLifecycleEvents(uid, before, after).map(({id, type}) => `${id ?? ''} ${type}`)).toEqual([
    'old ContainerDied',
    'old ContainerRemoved',
    'sandbox ContainerDied',
    'new ContainerStarted',
  ]);
});

test('the same states of other containers are a change', () => {
  expect(hasSameStates(states(['a', 'running']), states(['b', 'running']))).toBe(false);
});

async function listPods(runtime: FakeRuntime): Promise<ListedPod[]> {
  using cri = connect(runtime.endpoint);
  const containers = await listAllContainers(cri.runtime, {}, signal);
  const sandboxes = await listAllSandboxes(cri.runtime, {}, signal);
  return [...groupByPod(containers, sandboxes).values()];
}

test('a list and a status of a pod have the same states', async () => {
  const sandbox = aSandbox({id: 'ready', name: 'web', uid});
  const inState = (name: string, state: 'CREATED' | 'RUNNING' | 'EXITED' | 'UNKNOWN') =>
    aContainer({id: name, sandbox, name, state: `CONTAINER_${state}`});
  await using runtime = await FakeRuntime.start({
    sandboxes: [aSandbox({id: 'ended', name: 'web', uid, attempt: 1, state: 'SANDBOX_NOTREADY'})],
    containers: [
      inState('created', 'CREATED'),
      inState('running', 'RUNNING'),
      inState('exited', 'EXITED'),
      inState('lost', 'UNKNOWN'),
    ],
  });
  const [pod] = await listPods(runtime);
  expect(pod).toMatchObject({uid, name: 'web', namespace: 'default', isRunning: true});
  expect(Object.fromEntries(pod?.states ?? [])).toEqual({
    created: 'unknown',
    running: 'running',
    exited: 'exited',
    lost: 'unknown',
    ready: 'running',
    ended: 'exited',
  });
  using cri = connect(runtime.endpoint);
  const status = await readRuntimePodStatus(cri.runtime, {uid, name: '', namespace: ''});
  expect(hasSameStates(statesOf(status), pod?.states ?? new Map())).toBe(true);
  expect(withPodName(status)).toMatchObject({name: 'web', namespace: 'default'});
});

describe('a pod in the lists', () => {
  const labels = {
    'io.kubernetes.pod.uid': 'other',
    'io.kubernetes.pod.name': 'n',
    'io.kubernetes.pod.namespace': 'ns',
  };
  const container = {
    id: containerId('c'),
    podSandboxId: podSandboxId('removed'),
    labels,
    state: 'CONTAINER_EXITED',
  } as unknown as Container;

  test('is found by the label of its container if its sandbox was removed', () => {
    expect([...groupByPod([container], []).values()]).toMatchObject([
      {uid: 'other', name: 'n', namespace: 'ns', isRunning: false},
    ]);
  });

  test('is unknown if its container has neither label nor sandbox', () => {
    expect(groupByPod([{...container, labels: {}}], []).size).toBe(0);
  });

  test('of another client has a sandbox and its containers', async () => {
    const sandbox = aSandbox({id: 's', name: 'other', uid: 'u'});
    const unlabelled = {...sandbox, config: {...sandbox.config, labels: {}}};
    const built = aContainer({id: 'c', sandbox: unlabelled});
    await using runtime = await FakeRuntime.start({
      containers: [{...built, config: {...built.config, labels: {}}}],
    });
    expect(await listPods(runtime)).toMatchObject([{uid: 'u', name: 'other', isRunning: true}]);
  });
});
