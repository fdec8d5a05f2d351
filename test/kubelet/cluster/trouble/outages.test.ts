import {expect, test} from 'vitest';
import {LEASE_PATH, type ClusterTestbed} from '../cluster-testbed.js';
import {countCalls, pass, requestsSince, runPods, startTestbed} from './trouble.js';

const MINUTE_MS = 60_000;

const restartsOf = (testbed: ClusterTestbed, name: string): number | undefined =>
  testbed.status(name).containerStatuses?.[0]?.restartCount;

test.each([
  ['20 s', 20_000, 1],
  ['10 min', 10 * MINUTE_MS, 3],
])('after an outage of %s with crashes, statuses and events catch up', async (_title, ms, crashes) => {
  await using testbed = await startTestbed();
  const {api, daemon} = testbed;
  await runPods(testbed, 'web');
  await runPods(testbed, 'quiet');
  testbed.createPod('job', {restartPolicy: 'Never'});
  await testbed.untilPhase('job', 'Running');
  const [, , job] = daemon.ownContainers;
  await api.refuse();
  const since = daemon.clock.now();
  daemon.fake.exitContainer(job!.id, 0);
  for (let crash = 1; crash <= crashes; crash += 1) {
    const [web] = daemon.ownContainers.filter(({config, sandboxId, state}) => {
      const isWeb = daemon.nameOf({config, sandboxId, state} as never).startsWith('web/');
      return isWeb && state === 'CONTAINER_RUNNING';
    });
    daemon.fake.exitContainer(web!.id, 1);
    await daemon.until('the container runs again', () => daemon.running.includes(`web/main/${crash}`));
  }
  await pass(testbed, ms - (daemon.clock.now() - since));
  await api.listen();
  const back = daemon.clock.now();
  await daemon.until('the restarts are reported', () => restartsOf(testbed, 'web') === crashes);
  await testbed.untilPhase('job', 'Succeeded');
  await daemon.until('the events arrive', () =>
    testbed.events('Pod').some(({reason, count}) => reason === 'Started' && count > crashes),
  );
  await daemon.until('the lease is renewed', () =>
    requestsSince(testbed, back).some(({method, path}) => method === 'PUT' && path === LEASE_PATH),
  );
  await runPods(testbed, 'next');
  // Statuses of the outage arrive in one patch each.
  const patches = requestsSince(testbed, back).filter(
    ({method, path}) => method === 'PATCH' && path.endsWith('/web/status'),
  );
  expect(patches.length).toBeLessThanOrEqual(2);
  expect(daemon.running).toEqual([`next/main/0`, 'quiet/main/0', `web/main/${crashes}`]);
  expect(countCalls(testbed).starts).toBe(4 + crashes);
  expect(daemon.maxConcurrentInstances).toBe(1);
});

test('a pod deleted and a pod created in an outage are stopped and started when it is over', async () => {
  await using testbed = await startTestbed();
  const {api, daemon} = testbed;
  await runPods(testbed, 'old', 'web');
  await api.refuse();
  api.deletePod('old');
  testbed.createPod('new');
  await pass(testbed, MINUTE_MS);
  expect(daemon.running).toEqual(['old/main/0', 'web/main/0']);
  await api.listen();
  await testbed.untilDeleted('old');
  await testbed.untilPhase('new', 'Running');
  expect(daemon.running).toEqual(['new/main/0', 'web/main/0']);
});

test('a daemon that is restarted in an outage keeps its pods, restarts what crashes, and reports it later', async () => {
  await using testbed = await startTestbed();
  const {api, daemon} = testbed;
  await runPods(testbed, 'web', 'other');
  await daemon.put('static.yaml', STATIC_POD);
  await testbed.untilPhase('static-goldennode', 'Running');
  await api.refuse();
  await daemon.stop();
  crash(testbed, 'web');
  daemon.run();
  crash(testbed, 'static-goldennode');
  await daemon.until('the static pod runs again', () => daemon.running.includes('static-goldennode/main/1'));
  await pass(testbed, 2 * MINUTE_MS);
  // Nothing of the API server's pods is stopped or started before it has reported.
  expect(daemon.running).toEqual(['other/main/0', 'static-goldennode/main/1']);
  expect(countCalls(testbed)).toEqual({starts: 4, stops: 0});
  await api.listen();
  await runPods(testbed, 'next');
  await daemon.until('the crashes are reported', () =>
    ['web', 'static-goldennode'].every((name) => restartsOf(testbed, name) === 1),
  );
  expect(daemon.running).toEqual(['next/main/0', 'other/main/0', 'static-goldennode/main/1', 'web/main/1']);
  expect(countCalls(testbed)).toEqual({starts: 6, stops: 0});
  expect(daemon.maxConcurrentInstances).toBe(1);
});

/** Ends the running container of a pod. */
function crash({daemon}: ClusterTestbed, pod: string): void {
  const container = daemon.ownContainers.find((each) => daemon.nameOf(each).startsWith(`${pod}/`));
  daemon.fake.exitContainer(container!.id, 1);
}

const STATIC_POD = `apiVersion: v1
kind: Pod
metadata: {name: static}
spec:
  containers: [{name: main, image: 'localhost:5000/busybox:1'}]
`;
