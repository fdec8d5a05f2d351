import {expect, test} from 'vitest';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import type {SyncResult} from '../../../../../src/kubelet/contract/sync-result.js';
import {
  computeSettleTime,
  killedContainersOf,
} from '../../../../../src/kubelet/managers/kuberuntime/compute/settle-time.js';
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
])('if %s, containers may start at the expected time', (_, containers, settlesAt) => {
  expect(computeSettleTime(aRuntimePod(containers), {now: 5200, ...NO_KILLS})).toBe(settlesAt);
});

test('containers need not wait in a sandbox that has ended, or without one', () => {
  const killed = [exitedAt(5000, 137)];
  const ended = aSandboxStatus({state: 'SANDBOX_NOTREADY'});
  for (const sandboxes of [[ended], []])
    expect(computeSettleTime(aRuntimePod(killed, {sandboxes}), {now: 5200, ...NO_KILLS})).toBeUndefined();
});

test('containers need not wait after kcri killed one itself', () => {
  const status = aRuntimePod([exitedAt(5000, 137)]);
  expect(computeSettleTime(status, {now: 5200, ownKills: new Set(['main'])})).toBeUndefined();
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
