import {describe, expect, test} from 'vitest';
import type {Container, RestartPolicy} from '../../../src/api/v1.js';
import {containerId} from '../../../src/cri/index.js';
import type {RuntimeContainerStatus} from '../../../src/kubelet/container/pod-status.js';
import {computePodActions, wasInitialized} from '../../../src/kubelet/kuberuntime/compute-pod-actions.js';
import {shouldBeStarted} from '../../../src/kubelet/kuberuntime/restart-policy.js';
import {brief} from './brief.js';
import {aContainer, aPod, aSandboxStatus, aStatus, anInstance} from './builders.js';

const RUNNING = 'CONTAINER_RUNNING';
const EXITED = 'CONTAINER_EXITED';
const UNKNOWN = 'CONTAINER_UNKNOWN';

const sidecar = (name: string): Container => aContainer({name, restartPolicy: 'Always'});

test('the first sandbox is made under Never too, whatever containers there are', () => {
  const pod = aPod({restartPolicy: 'Never'});

  expect(brief(computePodActions(pod, aStatus([anInstance('main', EXITED, {exitCode: 1})], [])))).toBe(
    'kill pod, create sandbox 0, start main',
  );
});

test('a sandbox that does not tell its attempt counts as the first', () => {
  const sandbox = {...aSandboxStatus({state: 'SANDBOX_NOTREADY'}), metadata: undefined};

  expect(computePodActions(aPod(), aStatus([], [sandbox])).attempt).toBe(1);
});

test('dead sandboxes beside a ready one are left alone', () => {
  const sandboxes = [aSandboxStatus({attempt: 1}), aSandboxStatus({state: 'SANDBOX_NOTREADY'})];

  expect(brief(computePodActions(aPod(), aStatus([anInstance('main', RUNNING)], sandboxes)))).toBe('');
});

test('a pod that ends because its last container is killed says why that is', () => {
  const liveness = new Map([[containerId('main-0'), 'Failure' as const]]);

  const actions = computePodActions(aPod({restartPolicy: 'Never'}), aStatus([anInstance('main', RUNNING)]), {
    liveness,
    startup: new Map(),
  });

  expect(brief(actions)).toBe('kill pod, kill main (LivenessProbe)');
});

test('of the init containers the first begins alone, sidecars too', () => {
  const pod = aPod({initContainers: [sidecar('s1'), aContainer({name: 'i2'}), sidecar('s3')]});

  expect(brief(computePodActions(pod, aStatus()))).toBe('init s1');
});

test.each([aContainer({name: 'init'}), sidecar('init')])(
  'an init container in an unknown state is killed with the kubelet’s words: $restartPolicy',
  (container) => {
    const pod = aPod({initContainers: [container]});

    const actions = computePodActions(pod, aStatus([anInstance('init', UNKNOWN)]));

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

test('an init container that failed is not tried again while its pod is being deleted', () => {
  const pod = aPod(
    {restartPolicy: 'Always', initContainers: [aContainer({name: 'i1'})]},
    {deletionTimestamp: '2026-05-01T12:00:00Z'},
  );

  expect(brief(computePodActions(pod, aStatus([anInstance('i1', EXITED, {exitCode: 1})])))).toBe('kill pod');
});

describe('a rule for the exit code 0', () => {
  const pod = (action: 'Restart' | 'RestartAllContainers') => {
    const exitCodes = {operator: 'In', values: [0]} as const;
    return aPod({
      restartPolicy: 'Never',
      containers: [aContainer({restartPolicy: 'Never', restartPolicyRules: [{action, exitCodes}]})],
    });
  };

  test.each<[string, RuntimeContainerStatus, string]>([
    ['says nothing of what runs', anInstance('main', RUNNING), ''],
    ['counts for what ended so', anInstance('main', EXITED), 'remove main-0'],
  ])('%s', (_title, instance, expected) => {
    expect(brief(computePodActions(pod('RestartAllContainers'), aStatus([instance])))).toBe(expected);
  });
});

test.each<RestartPolicy>(['Always', 'OnFailure', 'Never'])(
  'a pod that says nothing of restarts is restarted as under Always, and its container’s own policy %s counts',
  (restartPolicy) => {
    const ended = aStatus([anInstance('main', EXITED)]);
    const spec = {containers: [aContainer()]};
    const own = {containers: [aContainer({restartPolicy})]};

    expect(brief(computePodActions({...aPod(), spec}, ended))).toBe('start main');
    expect(brief(computePodActions({...aPod(), spec: own}, ended))).toBe(
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
  'a container that is %s: its pod was initialized %s, it should be started %s',
  (state, was, should) => {
    const instance = state && anInstance('main', state);

    expect(wasInitialized(aPod(), aStatus(instance && [instance]))).toBe(was);
    expect(shouldBeStarted(aPod(), aContainer(), instance)).toBe(should);
  },
);
