import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../cluster-testbed.js';

const containers = (cpu: string): readonly object[] => [
  {
    name: 'main',
    image: BUSYBOX,
    resources: {requests: {cpu}, limits: {cpu: '2'}},
    resizePolicy: [{resourceName: 'cpu', restartPolicy: 'RestartContainer'}],
  },
];
const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;
const SETTLE_MS = 10_000;

const pendingOf = (testbed: ClusterTestbed): unknown =>
  testbed.status('web').conditions?.find(({type}) => type === 'PodResizePending');

/** Starts two pods, of which one has a deferred resize, and stops their kubelet. */
async function leaveDeferredResize(): Promise<ClusterTestbed> {
  const testbed = await ClusterTestbed.start();
  testbed.createPod('web', {containers: containers('100m')});
  testbed.createPod('other', {containers: containers('1')});
  for (const name of ['web', 'other']) await testbed.untilPhase(name, 'Running');
  const pod = testbed.api.pod('web')!;
  const spec = {...(pod['spec'] as object), containers: containers('1500m')};
  const metadata = {...pod.metadata, generation: 2};
  testbed.api.storage.put('/api/v1/namespaces/default/pods/web', {...pod, metadata, spec});
  await testbed.daemon.until('the resize is deferred', () => pendingOf(testbed) !== undefined);
  await testbed.daemon.stop();
  return testbed;
}

test.each([
  ['with the files of the other kubelet', undefined],
  ['with corrupt files', '{"data":'],
])('a deferred resize stays deferred after a takeover %s', async (_name, content) => {
  await using testbed = await leaveDeferredResize();
  const {daemon, api} = testbed;
  await rm(join(daemon.rootDir, 'kcri'), {recursive: true});
  if (content !== undefined)
    for (const what of ['allocated', 'actuated'])
      await writeFile(join(daemon.rootDir, `${what}_pods_state`), content);
  const before = daemon.fake.calls.length;
  const requests = api.requests.length;
  daemon.run();
  await daemon.until('the node is managed again', () => daemon.view.pods().length === 2);
  await daemon.clock.sleep(SETTLE_MS);
  expect(daemon.fake.calls.slice(before).filter(({method}) => CHANGES.test(method))).toEqual([]);
  expect(pendingOf(testbed)).toMatchObject({reason: 'Deferred', observedGeneration: 2});
  expect(
    api.requests
      .slice(requests)
      .filter(({path, method}) => method === 'PATCH' && path.endsWith('/status') && path.includes('/pods/')),
  ).toEqual([]);
  // It goes on when there is room.
  api.deletePod('other');
  await daemon.until('the resize is complete', () => daemon.running.join() === 'web/main/1');
});
