import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../../src/api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../../../../src/api/types/v1-status.js';
import {containerId} from '../../../../../src/cri/index.js';
import type {PodStatusInput} from '../../../../../src/kubelet/pods/status/compute/pod-status.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';
import {computeStatus} from './compute-status.js';

const main = aContainer();
const init = aContainer({name: 'init'});
const sidecar = aContainer({name: 'side', restartPolicy: 'Always'});

function anApiPod(spec: Partial<PodSpec> = {}): Pod {
  return aPod({containers: [main], ...spec}, {annotations: {'kubernetes.io/config.source': 'api'}});
}

function status(override: Partial<PodStatusInput> = {}): PodStatus {
  return computeStatus({pod: anApiPod(), now: Date.parse('2026-11-20T10:00:00.700Z'), ...override});
}

function mainStatus({containerStatuses = []}: PodStatus): ContainerStatus {
  return containerStatuses.find(({name}) => name === 'main')!;
}

const RAN: PodStatus = status();

test('a running pod reports the node, the addresses and the start time in whole seconds', () => {
  expect(status()).toMatchObject({
    phase: 'Running',
    hostIP: '192.0.2.2',
    hostIPs: [{ip: '192.0.2.2'}],
    podIP: '10.88.0.5',
    podIPs: [{ip: '10.88.0.5'}],
    startTime: '2026-11-20T10:00:00Z',
    qosClass: 'BestEffort',
  });
});

test('podIPs has one address per family, starting with the family of the node', () => {
  const runtime = aRuntimePod([], {ips: ['fd00::5', '10.88.0.5', '10.88.0.6']});
  expect(status({runtime}).podIPs).toEqual([{ip: '10.88.0.5'}, {ip: 'fd00::5'}]);
});

test('a pod in the host network has the addresses of the node', () => {
  const pod = anApiPod({hostNetwork: true});
  expect(status({pod, runtime: aRuntimePod([], {ips: []})})).toMatchObject({podIP: '192.0.2.2'});
});

test('transition times are kept until a condition changes', () => {
  const later = {previous: RAN, now: Date.parse('2026-11-20T10:05:00Z')};
  const ready = (of: PodStatus): string | undefined =>
    of.conditions?.find(({type}) => type === 'Ready')?.lastTransitionTime;
  expect(ready(status(later))).toBe('2026-11-20T10:00:00Z');
  expect(ready(status({...later, runtime: aRuntimePod([])}))).toBe('2026-11-20T10:05:00Z');
  expect(status(later).startTime).toBe('2026-11-20T10:00:00Z');
});

test.each(['Succeeded', 'Failed'] as const)(
  'a %s pod keeps its phase even if a container is running',
  (phase) => {
    expect(status({previous: {...RAN, phase}}).phase).toBe(phase);
  },
);

test('a terminated pod has a terminal phase, unless it is static', () => {
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_EXITED')]);
  const pod = anApiPod();
  const staticPod = {
    ...pod,
    metadata: {...pod.metadata, annotations: {'kubernetes.io/config.source': 'file'}},
  };
  expect(status({runtime, isTerminal: true}).phase).toBe('Succeeded');
  expect(status({runtime, isTerminal: true, pod: staticPod}).phase).toBe('Running');
});

test('a sidecar that is not ready makes the pod unready', () => {
  const pod = anApiPod({initContainers: [sidecar]});
  const ready = status({pod}).conditions?.find(({type}) => type === 'Ready');
  expect(ready).toMatchObject({
    status: 'False',
    reason: 'ContainersNotReady',
    message: 'containers with unready status: [side]',
  });
});

test('incomplete init containers are listed in the order of the spec', () => {
  const pod = anApiPod({initContainers: [{...init, name: 'z'}, sidecar, {...init, name: 'a'}]});
  const runtime = aRuntimePod([anInstance('side', 'CONTAINER_RUNNING')]);
  const {conditions} = status({pod, runtime});
  expect(conditions?.find(({type}) => type === 'Initialized')).toMatchObject({
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: 'containers with incomplete status: [z a]',
  });
});

test('PodReadyToStartContainers is False without a ready sandbox', () => {
  const runtime = aRuntimePod([], {sandboxes: [aSandboxStatus({state: 'SANDBOX_NOTREADY'})]});
  const [first] = status({runtime}).conditions ?? [];
  expect(first).toMatchObject({type: 'PodReadyToStartContainers', status: 'False'});
});

test('regular containers are sorted by name, init containers keep the order of the spec', () => {
  const names = ['c', 'a', 'b'].map((name) => ({name, image: 'i'}));
  const {containerStatuses, initContainerStatuses} = status({
    pod: anApiPod({containers: names, initContainers: names}),
  });
  expect(containerStatuses?.map(({name}) => name)).toEqual(['a', 'b', 'c']);
  expect(initContainerStatuses?.map(({name}) => name)).toEqual(['c', 'a', 'b']);
});

test('a container that was only created is waiting without a reason', () => {
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_CREATED', {restartCount: 1})]);
  expect(mainStatus(status({runtime}))).toMatchObject({
    state: {waiting: {}},
    restartCount: 1,
    containerID: 'containerd://main-1',
    ready: false,
    started: false,
  });
});

test('the newest instance is the state, the second newest the last state', () => {
  const runtime = aRuntimePod([
    anInstance('main', 'CONTAINER_RUNNING', {restartCount: 2}),
    anInstance('main', 'CONTAINER_EXITED', {restartCount: 1, exitCode: 3}),
    anInstance('main', 'CONTAINER_EXITED', {restartCount: 0, exitCode: 4}),
  ]);
  const {state, lastState, restartCount} = mainStatus(status({runtime}));
  expect(state?.running).toEqual({startedAt: '1970-01-01T00:01:41Z'});
  expect(lastState?.terminated?.exitCode).toBe(3);
  expect(restartCount).toBe(2);
});

test('the exit of a removed instance remains the last state of its successors', () => {
  const [older, newer] = [
    anInstance('main', 'CONTAINER_EXITED', {exitCode: 3, restartCount: 4}),
    anInstance('main', 'CONTAINER_RUNNING', {restartCount: 5}),
  ];
  const ended = status({runtime: aRuntimePod([older])});
  const removed = status({runtime: aRuntimePod([newer]), previous: ended});
  const later = status({runtime: aRuntimePod([newer]), previous: removed});
  for (const {lastState, state, restartCount} of [removed, later].map(mainStatus))
    expect({lastState, state, restartCount}).toEqual({
      lastState: mainStatus(ended).state,
      state: {running: {startedAt: '1970-01-01T00:01:41Z'}},
      restartCount: 5,
    });
});

test('a lost restart count is continued from the previous status', () => {
  const ended = status({runtime: aRuntimePod([anInstance('main', 'CONTAINER_EXITED', {restartCount: 4})])});
  const restarted = anInstance('main', 'CONTAINER_RUNNING', {id: containerId('other')});
  const again = status({runtime: aRuntimePod([restarted]), previous: ended});
  expect(mainStatus(again).restartCount).toBe(5);
  const later = status({runtime: aRuntimePod([restarted]), previous: again});
  expect(mainStatus(later).restartCount).toBe(5);
});

test('a running init container has started and is not ready, a succeeded one is ready and not started', () => {
  const pod = anApiPod({initContainers: [init]});
  const ofInit = (state: 'CONTAINER_RUNNING' | 'CONTAINER_EXITED'): ContainerStatus | undefined =>
    status({pod, runtime: aRuntimePod([anInstance('init', state)])}).initContainerStatuses?.[0];
  expect(ofInit('CONTAINER_RUNNING')).toMatchObject({started: true, ready: false});
  expect(ofInit('CONTAINER_EXITED')).toMatchObject({started: false, ready: true});
});

const backOff = {reason: 'CrashLoopBackOff', message: 'back-off 10s'};

test('a container in back-off is waiting, and its exit is the last state', () => {
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_EXITED', {exitCode: 2})]);
  const {state, lastState} = mainStatus(status({runtime, reasons: new Map([['main', backOff]])}));
  expect(state).toEqual({waiting: backOff});
  expect(lastState?.terminated?.exitCode).toBe(2);
});

test.each<[string, Partial<PodSpec>, number]>([
  ['that is not restarted', {restartPolicy: 'Never'}, 2],
  ['that succeeded under OnFailure', {restartPolicy: 'OnFailure'}, 0],
])('an old failure is not reported for a container %s', (_title, spec, exitCode) => {
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_EXITED', {exitCode})]);
  const {state} = mainStatus(status({pod: anApiPod(spec), runtime, reasons: new Map([['main', backOff]])}));
  expect(state?.terminated?.exitCode).toBe(exitCode);
});

test('an old failure is not reported for an init container that has succeeded', () => {
  const pod = anApiPod({initContainers: [init]});
  const runtime = aRuntimePod([anInstance('init', 'CONTAINER_EXITED')]);
  const [first] = status({pod, runtime, reasons: new Map([['init', backOff]])}).initContainerStatuses ?? [];
  expect(first?.state?.terminated?.exitCode).toBe(0);
});

test('a running container that disappeared gets ContainerStatusUnknown as its last state and counts as restarted', () => {
  expect(mainStatus(status({runtime: aRuntimePod([]), previous: RAN}))).toMatchObject({
    state: {waiting: {reason: 'ContainerCreating'}},
    lastState: {terminated: {reason: 'ContainerStatusUnknown', exitCode: 137}},
    restartCount: 1,
  });
});

test('a running container that disappeared keeps an earlier last state', () => {
  const before = anInstance('main', 'CONTAINER_EXITED', {exitCode: 3});
  const previous = status({
    runtime: aRuntimePod([anInstance('main', 'CONTAINER_RUNNING', {restartCount: 1}), before]),
  });
  expect(mainStatus(status({runtime: aRuntimePod([]), previous}))).toMatchObject({
    state: {waiting: {reason: 'ContainerCreating'}},
    lastState: {terminated: {exitCode: 3}},
    restartCount: 1,
  });
});

test('a running container in the state CONTAINER_UNKNOWN is terminated with ContainerStatusUnknown', () => {
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_UNKNOWN')]);
  expect(mainStatus(status({runtime, previous: RAN}))).toMatchObject({
    state: {
      terminated: {
        reason: 'ContainerStatusUnknown',
        message: 'The container could not be located when the pod was terminated',
        exitCode: 137,
      },
    },
    restartCount: 1,
  });
});

test('the terminated state is kept after the runtime removed the instance', () => {
  const pod = anApiPod({restartPolicy: 'Never'});
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_EXITED', {exitCode: 3})]);
  const ended = status({pod, runtime});
  expect(mainStatus(status({pod, runtime: aRuntimePod([]), previous: ended}))).toEqual(mainStatus(ended));
});

test('an init container without an instance counts as completed once a regular container exists', () => {
  const {initContainerStatuses} = status({pod: anApiPod({initContainers: [init]})});
  expect(initContainerStatuses?.[0]).toMatchObject({
    state: {terminated: {reason: 'Completed', exitCode: 0}},
    ready: true,
  });
});

test.each([
  ['a sidecar', sidecar, 'CONTAINER_RUNNING'],
  ['an init container whose successor is in the state CONTAINER_UNKNOWN', init, 'CONTAINER_UNKNOWN'],
] as const)('%s without an instance is waiting', (_title, container, state) => {
  const pod = anApiPod({initContainers: [container]});
  const {initContainerStatuses} = status({pod, runtime: aRuntimePod([anInstance('main', state)])});
  expect(initContainerStatuses?.[0]?.state).toEqual({waiting: {reason: 'PodInitializing'}});
});

test('a completed init container without an instance keeps its restart count', () => {
  const pod = anApiPod({initContainers: [init]});
  const waits = anInstance('init', 'CONTAINER_CREATED', {restartCount: 2});
  const previous = status({pod, runtime: aRuntimePod([waits])});
  expect(status({pod, previous}).initContainerStatuses?.[0]).toMatchObject({
    state: {terminated: {reason: 'Completed', exitCode: 0}},
    restartCount: 2,
  });
});

test('with a ready sandbox, podIPs are only its addresses', () => {
  expect(status({previous: RAN, runtime: aRuntimePod([], {ips: []})}).podIPs).toBeUndefined();
  const stopped = aRuntimePod([], {ips: [], sandboxes: [aSandboxStatus({state: 'SANDBOX_NOTREADY'})]});
  expect(status({previous: RAN, runtime: stopped}).podIPs).toEqual([{ip: '10.88.0.5'}]);
});

test('the termination message is appended to the message of the runtime', () => {
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_EXITED', {message: 'killed', exitCode: 1})]);
  const terminationMessages = new Map([[containerId('main-0'), 'bye']]);
  expect(mainStatus(status({runtime, terminationMessages})).state?.terminated?.message).toBe('killed: bye');
});

test('termination messages share 12 KiB equally and are cut at character boundaries', () => {
  const pod = anApiPod({
    containers: [main, {...main, name: 'b'}],
    initContainers: [init],
    ephemeralContainers: [{...main, name: 'debug'}],
  });
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_EXITED', {exitCode: 1})]);
  const terminationMessages = new Map([[containerId('main-0'), `x${'é'.repeat(2000)}`]]);
  expect(mainStatus(status({pod, runtime, terminationMessages})).state?.terminated?.message).toBe(
    `x${'é'.repeat(1535)}`,
  );
});

describe('recursiveReadOnly of a read-only mount', () => {
  const handler = (recursiveReadOnlyMounts: boolean) => ({recursiveReadOnlyMounts, userNamespaces: false});
  const handlers = new Map([
    ['', handler(true)],
    ['old', handler(false)],
  ]);
  const reportedMode = (
    mode: 'Disabled' | 'Enabled' | 'IfPossible' | undefined,
    runtimeHandler = '',
    source = 'api',
  ) => {
    const volumeMounts = [
      {name: 'v', mountPath: '/v', readOnly: true, ...(mode && {recursiveReadOnly: mode})},
      {name: 'w', mountPath: '/w'},
    ];
    const made = anApiPod({containers: [{...main, volumeMounts}]});
    const annotations = {'kubernetes.io/config.source': source};
    const pod = {...made, metadata: {...made.metadata, annotations}};
    const ran = aRuntimePod([anInstance('main', 'CONTAINER_RUNNING')]);
    const runtime = {...ran, sandboxes: ran.sandboxes.map((sandbox) => ({...sandbox, runtimeHandler}))};
    const [first, second] =
      mainStatus(status({pod, runtime, node: {nodeIps: [], hostIps: {current: []}, runtime: {handlers}}}))
        .volumeMounts ?? [];
    expect(second).toEqual({name: 'w', mountPath: '/w'});
    return first?.recursiveReadOnly;
  };

  // Proves: VolumeMount.recursiveReadOnly
  test.each([
    ['Disabled', '', 'Disabled'],
    [undefined, '', 'Disabled'],
    ['Enabled', '', 'Enabled'],
    ['Enabled', 'old', 'Disabled'],
    ['IfPossible', '', 'Enabled'],
    ['IfPossible', 'old', 'Disabled'],
  ] as const)('that requests %s with the handler "%s" is %s', (mode, runtimeHandler, expected) => {
    expect(reportedMode(mode, runtimeHandler)).toBe(expected);
  });

  test('of a static pod is Disabled, because the kubelet does not look up the handler', () => {
    expect(reportedMode('Enabled', '', 'file')).toBe('Disabled');
    expect(reportedMode('IfPossible', '', 'file')).toBe('Disabled');
  });
});

test('pod resources include the overhead; limits are only increased if set', () => {
  const requests = {cpu: '500m', memory: '64Mi'};
  const containers = [{...main, resources: {requests, limits: {cpu: '1'}}}];
  const pod = anApiPod({containers, overhead: {cpu: '250m', memory: '64Mi'}});
  const needed = {cpu: '750m', memory: '128Mi'};
  const {resources, allocatedResources} = status({pod});
  expect(resources).toEqual({requests: needed, limits: {cpu: '1250m'}});
  expect(allocatedResources).toEqual(needed);
});
