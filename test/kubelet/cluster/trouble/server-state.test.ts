import {expect, test} from 'vitest';
import {LEASE_PATH, NODE_PATH} from '../cluster-testbed.js';
import {countCalls, expectUndisturbed, pass, requestsSince, runPods, startTestbed} from './trouble.js';

const MINUTE_MS = 60_000;

test('an API server restored to an older state gets the statuses again, and pods that it has keep running', async () => {
  await using testbed = await startTestbed();
  const {api, daemon} = testbed;
  testbed.createPod('web', {}, {labels: {version: 'old'}});
  const restore = api.backUp();
  await testbed.untilPhase('web', 'Running');
  await runPods(testbed, 'later');
  const pod = api.pod('web')!;
  api.storage.put('/api/v1/namespaces/default/pods/web', {
    ...pod,
    metadata: {...pod.metadata, labels: {version: 'new'}},
  });
  await pass(testbed, 10_000);
  await restore();
  expect(testbed.status('web').phase).toBe('Pending');
  await testbed.untilPhase('web', 'Running');
  // A pod that the API server does not have is not wanted.
  await daemon.until('the missing pod is stopped', () => !daemon.running.includes('later/main/0'));
  expect(daemon.running).toEqual(['web/main/0']);
  expect(countCalls(testbed).starts).toBe(2);
  await runPods(testbed, 'next');
  expect(daemon.running).toEqual(['next/main/0', 'web/main/0']);
});

test('a Node that was deleted by hand is not registered again before a restart, and its pods keep running', async () => {
  await using testbed = await startTestbed();
  const {api, daemon} = testbed;
  await runPods(testbed, 'web');
  await daemon.until('the lease exists', () => api.storage.get(LEASE_PATH) !== undefined);
  api.storage.delete(NODE_PATH);
  // The garbage collector deletes what the Node owns.
  api.storage.delete(LEASE_PATH);
  const since = daemon.clock.now();
  await pass(testbed, 2 * MINUTE_MS);
  const requests = requestsSince(testbed, since);
  expect(requests.filter(({method, path}) => method === 'POST' && path === '/api/v1/nodes')).toEqual([]);
  // No lease is created without a Node to own it.
  expect(api.storage.get(LEASE_PATH)).toBeUndefined();
  // Five tries for the status every 10 s, two reads for the lease, which needs its owner, and five renewals at first.
  expect(requests.length / 2).toBeLessThan(50);
  expectUndisturbed(testbed, 'web');
  await daemon.stop();
  daemon.run();
  await daemon.until('the node is registered', () => api.storage.get(NODE_PATH) !== undefined);
  await daemon.until('the lease exists', () => api.storage.get(LEASE_PATH) !== undefined);
  await runPods(testbed, 'next');
  expectUndisturbed(testbed, 'web', 'next');
});

test('two nodes with one name do not send more requests than their periods allow', async () => {
  await using first = await startTestbed();
  await using second = await startTestbed({api: first.api});
  await runPods(first, 'web');
  await second.daemon.until('both run the pod', () => second.daemon.running.includes('web/main/0'));
  // From now on the statuses differ.
  second.daemon.kill('main', 1);
  await second.daemon.until('it runs again', () => second.daemon.running.includes('web/main/1'));
  await pass(first, 30_000);
  const count = first.api.requests.length;
  await pass(first, MINUTE_MS);
  const requests = first.api.requests.slice(count);
  // Each puts its own status back with its reconciliation every 10 s.
  const patches = requests.filter(({method, path}) => method === 'PATCH' && path.endsWith('/web/status'));
  expect(patches.length).toBeGreaterThan(0);
  expect(patches.length).toBeLessThan(20);
  expect(requests.length).toBeLessThan(100);
  expectUndisturbed(first, 'web');
  expect(countCalls(second)).toEqual({starts: 2, stops: 0});
});
