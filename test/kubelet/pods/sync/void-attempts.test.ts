import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {podSandboxId} from '../../../../src/cri/index.js';
import {aContainerSpec} from '../../../commands/command-testbed.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const signal = new AbortController().signal;

describe('an attempt to restart a container in a sandbox that has ended does not count', () => {
  /** Starts a pod with two containers, of which one has failed. */
  async function startFailedContainer() {
    const testbed = await startRegistryTestbed();
    const pod = aLocalPod({containers: [aContainerSpec('main'), aContainerSpec('other')]});
    const syncer = testbed.pods.createSyncer(pod);
    await syncOnce(syncer, signal);
    testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 1);
    const {runtime} = await syncer.observe();
    const before = testbed.events.length;
    const newEvents = (): readonly string[] => testbed.events.slice(before).map(({reason}) => reason);
    const sync = async () =>
      await syncer.syncPod(runtime, {
        networkError: undefined,
        resizeReview: undefined,
        syncFrequencyMs: 60_000,
        signal,
      });
    return {...testbed, syncer, sandboxId: testbed.runtime.sandboxes[0]!.id, newEvents, sync};
  }

  test.each(['CreateContainer', 'StartContainer'] as const)('before %s', async (method) => {
    const {runtime, syncer, sandboxId, newEvents, sync} = await startFailedContainer();
    runtime.injectAction(method, () => {
      runtime.exitSandbox(sandboxId);
    });
    expect((await sync()).results).toEqual([{action: 'CheckPodSandbox', target: 'web'}]);
    expect(newEvents()).not.toContain('Failed');
    expect(runtime.containers.map(({config}) => config.metadata?.attempt)).toEqual([0, 0]);

    const {status} = await syncOnce(syncer, signal);
    expect(status.containerStatuses).toMatchObject([
      {name: 'main', restartCount: 1, ready: true},
      {name: 'other', restartCount: 1, ready: true},
    ]);
    expect(newEvents()).not.toContain('BackOff');
  });

  test('and was removed', async () => {
    const {runtime, connection, sandboxId, newEvents, sync} = await startFailedContainer();
    runtime.injectAction('CreateContainer', async () => {
      await connection.runtime.removePodSandbox({podSandboxId: podSandboxId(sandboxId)});
    });
    expect((await sync()).results).toEqual([{action: 'CheckPodSandbox', target: 'web'}]);
    expect(newEvents()).not.toContain('Failed');
  });

  test('but one in a sandbox that was just created does', async () => {
    const {pods, runtime} = await startRegistryTestbed();
    const syncer = pods.createSyncer(aLocalPod());
    runtime.injectAction('CreateContainer', () => {
      runtime.exitSandbox(runtime.sandboxes[0]!.id);
    });
    expect((await syncOnce(syncer, signal)).results.at(-1)).toMatchObject({
      failure: {reason: 'CreateContainerError'},
    });
  });

  test('but one that fails in a ready sandbox does', async () => {
    const {runtime, newEvents, sync} = await startFailedContainer();
    runtime.injectError('CreateContainer', {code: 'UNKNOWN', message: 'no'});
    expect((await sync()).results).toMatchObject([
      {action: 'StartContainer', target: 'main', failure: {reason: 'CreateContainerError'}},
    ]);
    expect(newEvents()).toContain('Failed');
  });
});

describe('a container that others killed starts again', () => {
  const KILLED = 137;

  /** Syncs a pod whose container was killed; the kernel shows the end of its sandbox after some checks, or never. */
  async function syncKilledContainer(checksBeforeEnd: number) {
    const asked: (readonly string[])[] = [];
    const testbed = await startRegistryTestbed({}, (real) =>
      Object.assign(real, {
        hasEndedProcesses: async (_: Pod, ids: readonly string[]) => asked.push(ids) > checksBeforeEnd,
      }),
    );
    const pod = aLocalPod({containers: [aContainerSpec('main'), aContainerSpec('other')]});
    const syncer = testbed.pods.createSyncer(pod);
    await syncOnce(syncer, signal);
    testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, KILLED);
    const {runtime} = await syncer.observe();
    testbed.runtime.clearCalls();
    const before = testbed.events.length;
    const {results} = await syncer.syncPod(runtime, {
      networkError: undefined,
      resizeReview: undefined,
      syncFrequencyMs: 60_000,
      voidsAttempts: true,
      signal,
    });
    return {
      ...testbed,
      syncer,
      asked,
      results,
      reasons: testbed.events.slice(before).map(({reason}) => reason),
    };
  }

  test('in a sandbox whose processes run', async () => {
    const {runtime, asked, results, reasons} = await syncKilledContainer(Infinity);
    expect(results).toEqual([{action: 'StartContainer', target: 'main'}]);
    expect(reasons).toEqual(['Pulled', 'Created', 'Started']);
    expect(asked[0]).toEqual([runtime.sandboxes[0]!.id, runtime.containers[1]!.id]);
  });

  test.each([
    ['before CreateContainer', 1, []],
    ['after CreateContainer', 2, ['CreateContainer', 'RemoveContainer']],
    ['after StartContainer', 3, ['CreateContainer', 'StartContainer', 'RemoveContainer']],
  ])('but not in one whose processes have ended, found %s', async (_, checks, calls) => {
    const {runtime, syncer, results, reasons} = await syncKilledContainer(checks);
    expect(results).toMatchObject([{action: 'CheckPodSandbox', target: 'web'}]);
    expect(results[0]?.settlesAt).toBeGreaterThan(0);
    expect(reasons).toEqual([]);
    const made = runtime.calls.map(({method}) => method);
    expect(made.filter((method) => /^(Create|Start|Remove)Container$/.test(method))).toEqual(calls);

    runtime.exitSandbox(runtime.sandboxes[0]!.id);
    const {status} = await syncOnce(syncer, signal);
    expect(status.containerStatuses?.map(({restartCount}) => restartCount)).toEqual([1, 1]);
  });
});
