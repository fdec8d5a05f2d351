import {expect, onTestFinished, test, vi} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {connect} from '../../../../src/cri/index.js';
import {NO_OBJECTS} from '../../../../src/kubelet/contract/api-objects.js';
import {PodHistories} from '../../../../src/kubelet/pods/history/pod-history.js';
import {planPods} from '../../../../src/kubelet/plan/plan-pods.js';
import {PodStore} from '../../../../src/kubelet/pods/registry/pod-store.js';
import {runKcri} from '../../../cli/run-kcri.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';

const COUNT = 40;
/** Upper bound for the calls of all pods together if each needs some: far less than the square of COUNT. */
const MAX_READS = 8 * COUNT;

/** Counts the reads of records and statuses from now on. */
function countReads() {
  const spies = [vi.spyOn(PodStore.prototype, 'get'), vi.spyOn(PodHistories.prototype, 'lastKnown')] as const;
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const [records, statuses] = spies;
  return {records: () => records.mock.calls.length, statuses: () => statuses.mock.calls.length};
}

const manyPods = () => Array.from({length: COUNT}, (_, n) => aLocalPod({name: `web-${n}`}));

test('pods adopted concurrently share node pod snapshots', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const reads = countReads();
  await Promise.all(manyPods().map((pod) => pods.adopt(pod, 'pods.yaml')));
  expect((await pods.store.list()).records).toHaveLength(COUNT);
  expect(reads.records()).toBeLessThan(MAX_READS);
  expect(reads.statuses()).toBeLessThan(MAX_READS);
  expect(runtime.callsTo('ListPodSandbox').length).toBeLessThan(COUNT / 2);
});

test('a plan reads one node pod snapshot for all its pods', async () => {
  const {pods, node, runtime} = await startRegistryTestbed();
  for (const pod of manyPods()) await pods.adopt(pod, 'pods.yaml');
  const changed = manyPods().map(({metadata: {name = ''}}) => aLocalPod({name, hostname: 'changed'}));
  using services = connect(runtime.endpoint);
  const setup = {services, node, endpoint: runtime.endpoint, runtimeName: 'fake', clock: systemClock};
  const reads = countReads();
  await planPods({...setup, objects: NO_OBJECTS}, changed, new AbortController().signal);
  expect(reads.records()).toBeLessThan(MAX_READS);
  expect(reads.statuses()).toBeLessThan(MAX_READS);
});

test('deleting pods does not read all records for each of them', async () => {
  const {pods, node, runtime} = await startRegistryTestbed();
  for (const pod of manyPods()) await pods.adopt(pod, 'pods.yaml');
  const reads = countReads();
  const names = manyPods().map(({metadata}) => metadata.name ?? '');
  const {exitCode} = await runKcri(['--root-dir', node.rootDir, 'delete', ...names], {
    endpoint: runtime.endpoint,
  });
  expect(exitCode).toBe(0);
  expect(reads.records()).toBeLessThan(MAX_READS);
});
