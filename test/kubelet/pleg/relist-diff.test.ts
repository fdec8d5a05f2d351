import {describe, expect, test} from 'vitest';
import {connect, containerId, podSandboxId, podUid, type Container} from '../../../src/cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../../src/cri/list-all.js';
import {
  lifecycleEvents,
  listedPods,
  named,
  sameStates,
  statesOf,
  type ListedPod,
  type PlegState,
} from '../../../src/kubelet/pleg/relist-diff.js';
import {readPodStatus} from '../../../src/kubelet/kuberuntime/runtime-status.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';

const uid = podUid('uid-1');
const signal = new AbortController().signal;

const states = (...entries: readonly (readonly [string, PlegState])[]): Map<string, PlegState> =>
  new Map(entries);
const one = (state: PlegState | undefined): Map<string, PlegState> =>
  state === undefined ? states() : states(['c1', state]);

describe('what is told of a container or sandbox that', () => {
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
  ] as const)('was %s and is %s: %j', (before, after, types) => {
    expect(lifecycleEvents(uid, one(before), one(after))).toEqual(
      types.map((type) => ({uid, type, id: 'c1'})),
    );
    expect(sameStates(one(before), one(after))).toBe(before === after);
  });
});

test('what was there is told of first, and containers before sandboxes', () => {
  const before = states(['old', 'running'], ['sandbox', 'running']);
  const after = states(['new', 'running'], ['sandbox', 'exited']);
  expect(lifecycleEvents(uid, before, after).map(({id, type}) => `${id ?? ''} ${type}`)).toEqual([
    'old ContainerDied',
    'old ContainerRemoved',
    'sandbox ContainerDied',
    'new ContainerStarted',
  ]);
});

test('as many states of other things are not the same', () => {
  expect(sameStates(states(['a', 'running']), states(['b', 'running']))).toBe(false);
});

async function listed(runtime: FakeRuntime): Promise<ListedPod[]> {
  using cri = connect(runtime.endpoint);
  const containers = await listAllContainers(cri.runtime, {}, signal);
  const sandboxes = await listAllSandboxes(cri.runtime, {}, signal);
  return [...listedPods(containers, sandboxes).values()];
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
  const [pod] = await listed(runtime);
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
  const status = await readPodStatus(cri.runtime, {uid, name: '', namespace: ''});
  expect(sameStates(statesOf(status), pod?.states ?? new Map())).toBe(true);
  expect(named(status)).toMatchObject({name: 'web', namespace: 'default'});
});

describe('a pod in the lists', () => {
  const labels = {
    'io.kubernetes.pod.uid': 'other',
    'io.kubernetes.pod.name': 'n',
    'io.kubernetes.pod.namespace': 'ns',
  };
  const container = {
    id: containerId('c'),
    podSandboxId: podSandboxId('gone'),
    labels,
    state: 'CONTAINER_EXITED',
  } as unknown as Container;

  test('is told by its container when its sandbox is gone', () => {
    expect([...listedPods([container], []).values()]).toMatchObject([
      {uid: 'other', name: 'n', namespace: 'ns', isRunning: false},
    ]);
  });

  test('is none when neither label nor sandbox says whose the container is', () => {
    expect(listedPods([{...container, labels: {}}], []).size).toBe(0);
  });

  test('of another client is its sandbox, and what is in it', async () => {
    const sandbox = aSandbox({id: 's', name: 'foreign', uid: 'u'});
    const unlabelled = {...sandbox, config: {...sandbox.config, labels: {}}};
    const built = aContainer({id: 'c', sandbox: unlabelled});
    await using runtime = await FakeRuntime.start({
      containers: [{...built, config: {...built.config, labels: {}}}],
    });
    expect(await listed(runtime)).toMatchObject([{uid: 'u', name: 'foreign', isRunning: true}]);
  });
});
