import {availableParallelism} from 'node:os';
import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {syncPods} from '../../../../src/kubelet/foreground/sync-pods.js';
import {aLocalPod, startRegistryTestbed, type RegistryTestbed} from '../../pods/registry-testbed.js';

const STARTS: readonly string[] = ['RunPodSandbox', 'CreateContainer', 'StartContainer'];
const LIMIT = 2 * availableParallelism();

/** Syncs this many pods at once and returns their results. */
async function syncAll({pods, connection}: RegistryTestbed, count: number): Promise<string[]> {
  const requests = Array.from({length: count}, (_, index) => ({
    pod: aLocalPod({name: `web-${index}`}),
    source: 'web.yaml',
  }));
  const {runtime} = connection;
  const {signal} = new AbortController();
  const options = {
    wait: 'ready',
    timeoutMs: undefined,
    clock: systemClock,
    random: () => 0,
    runtime,
  } as const;
  const results = await syncPods(pods, requests, {...options, onStatus: () => undefined}, signal);
  return results.map(({kind}) => kind);
}

test('of many pods that start at once, only a few calls run at a time', async () => {
  const running = new Set<unknown>();
  const most: number[] = [];
  let begun = 0;
  const testbed = await startRegistryTestbed({
    intercept: async (call, stage) => {
      if (!STARTS.includes(call.method)) return;
      if (stage === 'before') {
        running.add(call);
        begun += 1;
        most.push(running.size);
        // Leaves time for other calls to arrive.
        for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      } else running.delete(call);
    },
  });
  const count = 4 * LIMIT;
  const results = await syncAll(testbed, count);
  expect(results).toEqual(Array(count).fill('ready'));
  expect(begun).toBe(3 * count);
  expect(Math.max(...most)).toBe(LIMIT);
});

test('a sandbox whose network hangs does not keep other pods from starting', async () => {
  let hanging = 0;
  const release: (() => void)[] = [];
  const testbed = await startRegistryTestbed({
    intercept: async ({method}, stage) => {
      if (method !== 'RunPodSandbox' || stage !== 'before' || hanging === LIMIT) return;
      hanging += 1;
      await new Promise<void>((resolve) => release.push(resolve));
    },
  });
  const syncing = syncAll(testbed, LIMIT + 1);
  await expect.poll(() => testbed.runtime.callsTo('StartContainer')).toHaveLength(1);
  for (const end of release) end();
  expect(await syncing).toEqual(Array(LIMIT + 1).fill('ready'));
});
