import {expect, test} from 'vitest';
import type {ContainerStatus} from '../../../src/api/types/v1-status.js';
import {outcomeErrors} from '../../../src/features/sync/pod-outcome.js';
import {podUid} from '../../../src/cri/index.js';
import {PodError} from '../../../src/kubelet/index.js';
import {aContainerStatus} from '../../fakes/a-pod.js';

const POD = {namespace: 'default', name: 'web', uid: podUid('u1')};
const NO_PROBE_FAILURES = {of: () => []};
const CRASHING = aContainerStatus({
  name: 'main',
  state: {waiting: {reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container=main'}},
  lastState: {terminated: {exitCode: 137, reason: 'OOMKilled'}},
  restartCount: 2,
});
const BACK_OFF = new PodError(POD, 'container "main": CrashLoopBackOff: back-off 10s', {
  reason: 'CrashLoopBackOff',
  hint: 'run "kcri logs"',
});

function timeoutError(container: ContainerStatus, remove: boolean, isExplained = false) {
  const status = {phase: 'Running' as const, containerStatuses: [container]};
  const result = {kind: 'timeout' as const, pod: POD, status, hadEnded: false, error: BACK_OFF};
  const [error] = outcomeErrors(result, {
    wait: 'ready',
    timeoutMs: 5000,
    remove,
    isExplained,
    isPrivateRuntime: false,
    probeFailures: NO_PROBE_FAILURES,
  });
  return error;
}

test('a timeout while a container crashes names its exit once', () => {
  expect(timeoutError(CRASHING, false)).toMatchObject({
    message:
      'pod "default/web": not ready after 5s; container "main": CrashLoopBackOff: exited with code 137 (OOMKilled), restarted 2 times',
    hint: 'run "kcri logs default/web/main" to print its log',
    exitCode: 124,
  });
});

test('the answer of kcri why replaces the hint', () => {
  expect(timeoutError(CRASHING, false, true)).toMatchObject({hint: undefined});
});

test('the error of a deleted pod has no hint on how to print its log', () => {
  expect(timeoutError(CRASHING, true)).toMatchObject({hint: undefined});
});

test.each([
  [true, 'check the name; to load an image without a registry, use "kcri runtime load FILE.tar"'],
  [false, 'check the name'],
])('the hint on an image, private runtime: %s', (isPrivateRuntime, hint) => {
  const error = new PodError(POD, 'container "main": ErrImagePull: no', {
    reason: 'ErrImagePull',
    hint: 'check the name',
  });
  const failed = {
    kind: 'failed' as const,
    pod: POD,
    status: undefined,
    hadEnded: false,
    error,
    removed: true,
  };
  const probeFailures = NO_PROBE_FAILURES;
  const options = {
    wait: 'ready' as const,
    timeoutMs: undefined,
    remove: false,
    isExplained: false,
    isPrivateRuntime,
    probeFailures,
  };
  expect(outcomeErrors(failed, options)).toEqual([expect.objectContaining({hint})]);
});
