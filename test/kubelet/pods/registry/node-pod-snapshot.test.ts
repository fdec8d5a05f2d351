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
/** What all of them may cost together of something that each of them asks for: less than the square by far. */
const FEW = 8 * COUNT;

/** How often records and statuses are read from here on. */
function counted() {
  const spies = [vi.spyOn(PodStore.prototype, 'get'), vi.spyOn(PodHistories.prototype, 'lastKnown')] as const;
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const [records, statuses] = spies;
  return {records: () => records.mock.calls.length, statuses: () => statuses.mock.calls.length};
}

const manyPods = () => Array.from({length: COUNT}, (_, n) => aLocalPod({name: `web-${n}`}));

test('pods that are made at once look at their neighbours together', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const reads = counted();
  await Promise.all(manyPods().map((pod) => pods.adopt(pod, 'pods.yaml')));
  expect((await pods.store.list()).records).toHaveLength(COUNT);
  expect(reads.records()).toBeLessThan(FEW);
  expect(reads.statuses()).toBeLessThan(FEW);
  expect(runtime.callsTo('ListPodSandbox').length).toBeLessThan(COUNT / 2);
});

test('a plan looks at the neighbours of all its pods once', async () => {
  const {pods, node, runtime} = await startRegistryTestbed();
  for (const pod of manyPods()) await pods.adopt(pod, 'pods.yaml');
  const changed = manyPods().map(({metadata: {name = ''}}) => aLocalPod({name, hostname: 'changed'}));
  using services = connect(runtime.endpoint);
  const ground = {services, node, endpoint: runtime.endpoint, runtimeName: 'fake', clock: systemClock};
  const reads = counted();
  await planPods({...ground, objects: NO_OBJECTS}, changed, new AbortController().signal);
  expect(reads.records()).toBeLessThan(FEW);
  expect(reads.statuses()).toBeLessThan(FEW);
});

test('deleting pods reads no other records for each of them', async () => {
  const {pods, node, runtime} = await startRegistryTestbed();
  for (const pod of manyPods()) await pods.adopt(pod, 'pods.yaml');
  const reads = counted();
  const names = manyPods().map(({metadata}) => metadata.name ?? '');
  const {exitCode} = await runKcri(['--root-dir', node.rootDir, 'delete', ...names], {
    endpoint: runtime.endpoint,
  });
  expect(exitCode).toBe(0);
  expect(reads.records()).toBeLessThan(FEW);
});
