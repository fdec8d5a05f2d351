import {describe, expect, test} from 'vitest';
import type {Container, RestartPolicy} from '../../../../../src/api/types/v1-pod.js';
import {containerId} from '../../../../../src/cri/index.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {
  computePodActions,
  hasAnyRegularContainerCreated,
} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-pod-actions.js';
import {shouldStartContainer} from '../../../../../src/kubelet/managers/kuberuntime/compute/restart-policy.js';
import {formatPodActions} from '../format-pod-actions.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';

const RUNNING = 'CONTAINER_RUNNING';
const EXITED = 'CONTAINER_EXITED';
const UNKNOWN = 'CONTAINER_UNKNOWN';

const sidecar = (name: string): Container => aContainer({name, restartPolicy: 'Always'});

test('the first sandbox is created under Never too, regardless of containers', () => {
  const pod = aPod({restartPolicy: 'Never'});

  expect(
    formatPodActions(
      computePodActions(pod, aRuntimePod([anInstance('main', EXITED, {exitCode: 1})], {sandboxes: []})),
    ),
  ).toBe('kill pod, create sandbox 0, start main');
});

test('a sandbox without an attempt counts as the first', () => {
  const sandbox = {...aSandboxStatus({state: 'SANDBOX_NOTREADY'}), metadata: undefined};

  expect(computePodActions(aPod(), aRuntimePod([], {sandboxes: [sandbox]})).attempt).toBe(1);
});

test('dead sandboxes beside a ready one are ignored', () => {
  const sandboxes = [aSandboxStatus({attempt: 1}), aSandboxStatus({state: 'SANDBOX_NOTREADY'})];

  expect(
    formatPodActions(computePodActions(aPod(), aRuntimePod([anInstance('main', RUNNING)], {sandboxes}))),
  ).toBe('');
});

// Proves: PodSpec.restartPolicy
test('a pod that is killed because its last container is killed keeps the kill reason', () => {
  const liveness = new Map([[containerId('main-0'), 'Failure' as const]]);

  const actions = computePodActions(
    aPod({restartPolicy: 'Never'}),
    aRuntimePod([anInstance('main', RUNNING)]),
    {
      liveness,
      startup: new Map(),
    },
  );

  expect(formatPodActions(actions)).toBe('kill pod, kill main (LivenessProbe)');
});

test('only the first init container is started, even if it is a sidecar', () => {
  const pod = aPod({initContainers: [sidecar('s1'), aContainer({name: 'i2'}), sidecar('s3')]});

  expect(formatPodActions(computePodActions(pod, aRuntimePod()))).toBe('init s1');
});

test.each([aContainer({name: 'init'}), sidecar('init')])(
  'an init container in an unknown state is killed with the kubelet’s message: $restartPolicy',
  (container) => {
    const pod = aPod({initContainers: [container]});

    const actions = computePodActions(pod, aRuntimePod([anInstance('init', UNKNOWN)]));

    expect(actions.containersToKill).toEqual([
      {
        id: 'init-0',
        name: 'init',
        message: 'Init container is in "unknown" state, try killing it before restart',
        reason: 'Unknown',
      },
    ]);
  },
);

test('a failed init container is not restarted while its pod is being deleted', () => {
  const pod = aPod(
    {restartPolicy: 'Always', initContainers: [aContainer({name: 'i1'})]},
    {deletionTimestamp: '2026-05-01T12:00:00Z'},
  );

  expect(
    formatPodActions(computePodActions(pod, aRuntimePod([anInstance('i1', EXITED, {exitCode: 1})]))),
  ).toBe('kill pod');
});

describe('a restart rule for the exit code 0', () => {
  const pod = (action: 'Restart' | 'RestartAllContainers') => {
    const exitCodes = {operator: 'In', values: [0]} as const;
    return aPod({
      restartPolicy: 'Never',
      containers: [aContainer({restartPolicy: 'Never', restartPolicyRules: [{action, exitCodes}]})],
    });
  };

  test.each<[string, RuntimeContainerStatus, string]>([
    ['does not match a running container', anInstance('main', RUNNING), ''],
    ['matches an exited container', anInstance('main', EXITED), 'remove main-0'],
  ])('%s', (_title, instance, expected) => {
    expect(formatPodActions(computePodActions(pod('RestartAllContainers'), aRuntimePod([instance])))).toBe(
      expected,
    );
  });
});

test.each<RestartPolicy>(['Always', 'OnFailure', 'Never'])(
  'a pod without a restart policy uses Always, unless its container has the policy %s',
  (restartPolicy) => {
    const ended = aRuntimePod([anInstance('main', EXITED)]);
    const spec = {containers: [aContainer()]};
    const own = {containers: [aContainer({restartPolicy})]};

    expect(formatPodActions(computePodActions({...aPod(), spec}, ended))).toBe('start main');
    expect(formatPodActions(computePodActions({...aPod(), spec: own}, ended))).toBe(
      restartPolicy === 'Always' ? 'start main' : 'kill pod',
    );
  },
);

test.each([
  [undefined, false, true],
  ['CONTAINER_CREATED', true, true],
  [RUNNING, true, false],
  [EXITED, true, true],
  [UNKNOWN, false, true],
] as const)(
  'for a container in the state %s: any regular container created is %s, should be started is %s',
  (state, was, should) => {
    const instance = state && anInstance('main', state);

    expect(hasAnyRegularContainerCreated(aPod(), aRuntimePod(instance && [instance]))).toBe(was);
    expect(shouldStartContainer(aPod(), aContainer(), instance)).toBe(should);
  },
);
