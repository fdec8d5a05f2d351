import {describe, expect, test} from 'vitest';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import type {SyncResult} from '../../../../../src/kubelet/contract/sync-result.js';
import {
  computeSandboxDoubt,
  computeVoidAttempts,
  killedContainersOf,
} from '../../../../../src/kubelet/managers/kuberuntime/compute/ending-sandbox.js';
import {podSandboxId} from '../../../../../src/cri/index.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';

const exitedAt = (ms: number, exitCode: number, name = 'main', reason = 'Error'): RuntimeContainerStatus =>
  anInstance(name, 'CONTAINER_EXITED', {exitCode, reason, finishedAt: BigInt(ms) * 1_000_000n});

const NO_KILLS = {ownKills: new Set<string>()};

test.each<[string, readonly RuntimeContainerStatus[], number | undefined]>([
  ['no container was killed', [exitedAt(5000, 1), anInstance('other', 'CONTAINER_RUNNING')], undefined],
  ['a container got SIGKILL', [exitedAt(5000, 137)], 6000],
  ['a container got SIGTERM', [exitedAt(5000, 143)], 6000],
  ['containers were killed one after the other', [exitedAt(4500, 137), exitedAt(5000, 137, 'other')], 6000],
  ['a container used too much memory', [exitedAt(5000, 137, 'main', 'OOMKilled')], undefined],
  ['a container was killed a second ago', [exitedAt(4200, 137)], undefined],
  ['the clock was set back since', [exitedAt(9000, 137)], undefined],
  ['the container was in another sandbox', [inSandbox(exitedAt(5000, 137), 'sandbox-9')], undefined],
])('if %s, the sandbox may be ending until the expected time', (_, containers, end) => {
  expect(computeSandboxDoubt(aRuntimePod(containers), {now: 5200, ...NO_KILLS})?.end).toBe(end);
});

test.each([
  [5000, 5000],
  [5040, 5060],
  [5900, 5950],
])('at %d, the end of another process is visible at %d', (now, visibleAt) => {
  const status = aRuntimePod([exitedAt(5000, 137)]);
  expect(computeSandboxDoubt(status, {now, ...NO_KILLS})).toEqual({end: 6000, visibleAt});
});

test('there is no doubt about a sandbox that has ended, or without one', () => {
  const killed = [exitedAt(5000, 137)];
  const ended = aSandboxStatus({state: 'SANDBOX_NOTREADY'});
  for (const sandboxes of [[ended], []])
    expect(computeSandboxDoubt(aRuntimePod(killed, {sandboxes}), {now: 5200, ...NO_KILLS})).toBeUndefined();
});

test('there is no doubt after kcri killed a container itself', () => {
  const status = aRuntimePod([exitedAt(5000, 137)]);
  expect(computeSandboxDoubt(status, {now: 5200, ownKills: new Set(['main'])})).toBeUndefined();
});

describe('in a sandbox that has ended, an attempt is void', () => {
  const ENDED = {sandboxes: [aSandboxStatus({state: 'SANDBOX_NOTREADY'})]};
  const attempt = (name = 'main'): RuntimeContainerStatus => ({
    ...anInstance(name, 'CONTAINER_RUNNING'),
    restartCount: 1,
  });
  const voidNames = (containers: readonly RuntimeContainerStatus[], sandboxes = ENDED) =>
    computeVoidAttempts(aRuntimePod(containers, sandboxes), {now: 5200, ...NO_KILLS}).map(({name}) => name);

  test('if it replaced a container that others had just killed', () => {
    expect(voidNames([attempt(), exitedAt(5000, 137), anInstance('other', 'CONTAINER_RUNNING')])).toEqual([
      'main',
    ]);
  });

  test.each<[string, readonly RuntimeContainerStatus[]]>([
    ['that failed', [attempt(), exitedAt(5000, 1)]],
    ['that was killed long before', [attempt(), exitedAt(4000, 137)]],
    ['of another name', [attempt('other'), exitedAt(5000, 137)]],
    ['in another sandbox', [attempt(), inSandbox(exitedAt(5000, 137), 'sandbox-9')]],
  ])('but not if it replaced one %s', (_, containers) => {
    expect(voidNames(containers)).toEqual([]);
  });

  test('but none is void in a ready sandbox', () => {
    expect(voidNames([attempt(), exitedAt(5000, 137)], {sandboxes: [aSandboxStatus()]})).toEqual([]);
  });
});

test('a sync killed the containers that it stopped, and those of which the postStart hook failed', () => {
  const message = 'failed';
  const results: readonly SyncResult[] = [
    {action: 'KillContainer', target: 'stopped'},
    {action: 'KillContainer', target: 'survives', failure: {reason: 'KillContainerError', message}},
    {action: 'StartContainer', target: 'hooked', failure: {reason: 'PostStartHookError', message}},
    {action: 'StartContainer', target: 'broken', failure: {reason: 'RunContainerError', message}},
    {action: 'StartContainer', target: 'runs'},
  ];
  expect([...killedContainersOf(results)]).toEqual(['stopped', 'hooked']);
});

function inSandbox(instance: RuntimeContainerStatus, id: string): RuntimeContainerStatus {
  return {...instance, sandboxId: podSandboxId(id)};
}
