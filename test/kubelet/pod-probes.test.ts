import {expect, onTestFinished, test} from 'vitest';
import type {Container, Pod} from '../../src/api/v1.js';
import {systemClock} from '../../src/base/clock.js';
import {NO_OBJECTS} from '../../src/kubelet/container/api-objects.js';
import {syncPodUntil, type SyncPodsOptions} from '../../src/kubelet/foreground/sync-pods.js';
import type {LocalPods} from '../../src/kubelet/local-pods.js';
import {SILENT_OBSERVER} from '../../src/kubelet/local-pods-options.js';
import {openLocalPods} from '../../src/kubelet/open-local-pods.js';
import {planPods} from '../../src/kubelet/plan/plan-pods.js';
import {BUSYBOX, type FakeRuntime, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {connect} from '../../src/cri/index.js';
import {aLocalPod, aPodGround} from './pod-ground.js';

const never = new AbortController().signal;
const UNTIL_READY: SyncPodsOptions = {
  wait: 'ready',
  timeoutMs: undefined,
  clock: systemClock,
  onStatus: () => undefined,
};
const exec = (word: string): object => ({exec: {command: [word]}, periodSeconds: 1});

interface Probed {
  readonly runtime: FakeRuntime;
  readonly pods: LocalPods;
  readonly events: string[];
  readonly node: Parameters<typeof openLocalPods>[0];
}

/** The pods of a root directory with all that kcri itself puts together, probes among it. */
async function aProbedGround(options: FakeRuntimeOptions): Promise<Probed> {
  const {runtime, node} = await aPodGround(options);
  const services = connect(runtime.endpoint);
  onTestFinished(() => {
    services.close();
  });
  const events: string[] = [];
  const described = {services, endpoint: runtime.endpoint, node, runtimeName: 'fake', clock: systemClock};
  const pods = openLocalPods(described, {
    ...SILENT_OBSERVER,
    event: ({reason, message}) => void events.push(`${reason}: ${message}`),
  });
  return {runtime, pods, events, node: described};
}

function aPodOf(container: Partial<Container>, fields: object = {}): Pod {
  const main = {name: 'main', image: BUSYBOX, command: ['sleep', 'infinity'], ...container};
  return aLocalPod({containers: [main], ...fields});
}

test('a sync waits until a container has started and is ready, and ends its probes', async () => {
  let tries = 0;
  const {pods, runtime, events} = await aProbedGround({
    exec: ([word]) => ({exitCode: word === 'up' && ++tries < 2 ? 1 : 0}),
  });
  const pod = aPodOf({startupProbe: exec('up'), readinessProbe: exec('ready')});
  const told: string[] = [];
  const onStatus: SyncPodsOptions['onStatus'] = (_, {containerStatuses: [main] = []}) =>
    told.push(`${main?.started} ${main?.ready}`);

  const outcome = await syncPodUntil(pods, {pod, source: '-'}, {...UNTIL_READY, onStatus}, never);

  expect(outcome.kind).toBe('ready');
  expect(told).toEqual(['false false', 'true false', 'true true']);
  expect(events.filter((event) => event.startsWith('Unhealthy'))).toEqual([
    'Unhealthy: Startup probe failed: ',
  ]);
  const calls = runtime.callsTo('ExecSync').length;
  await systemClock.sleep(1200);
  expect(runtime.callsTo('ExecSync')).toHaveLength(calls);
});

test('what was ready is ready still when it is looked at, or synced again', async () => {
  const {pods, node} = await aProbedGround({exec: () => ({exitCode: 0})});
  const pod = aPodOf({startupProbe: exec('up'), readinessProbe: exec('ready')});
  await syncPodUntil(pods, {pod, source: '-'}, UNTIL_READY, never);

  const {status} = await openLocalPods(node, SILENT_OBSERVER).syncer(pod).observe();

  expect(status).toMatchObject({containerStatuses: [{started: true, ready: true}]});
});

test('a container that is unhealthy is started again while it is synced', async () => {
  const {pods, runtime, events} = await aProbedGround({exec: () => ({exitCode: 1, stderr: 'ill'})});
  const pod = aPodOf({livenessProbe: {...exec('live'), failureThreshold: 1}});
  const controller = new AbortController();
  const syncing = syncPodUntil(
    pods,
    {pod, source: '-'},
    {...UNTIL_READY, wait: 'complete'},
    controller.signal,
  );
  await expect.poll(() => runtime.containers.length, {timeout: 10_000}).toBe(2);
  controller.abort();
  await syncing;

  expect(events.filter((event) => /^(Unhealthy|Killing)/.test(event)).slice(0, 2)).toEqual([
    'Unhealthy: Liveness probe failed: ill',
    'Killing: Container main failed liveness probe, will be restarted',
  ]);
});

test('a pod is ended at its deadline', async () => {
  const {pods, runtime, events} = await aProbedGround({});
  const pod = aPodOf({}, {activeDeadlineSeconds: 1});

  const outcome = await syncPodUntil(pods, {pod, source: '-'}, {...UNTIL_READY, wait: 'complete'}, never);

  expect(outcome).toMatchObject({
    kind: 'complete',
    problem: 'DeadlineExceeded: Pod was active on the node longer than the specified deadline',
  });
  expect(runtime.containers.map(({state}) => state)).toEqual(['CONTAINER_EXITED']);
  expect(events.filter((event) => event.startsWith('DeadlineExceeded'))).toEqual([
    'DeadlineExceeded: Pod was active on the node longer than the specified deadline',
  ]);
});

test('a plan takes every container to be well, and probes none', async () => {
  const {node, runtime} = await aProbedGround({});
  const side = {name: 'side', image: BUSYBOX, restartPolicy: 'Always', startupProbe: exec('up')};
  const pod = aPodOf({readinessProbe: exec('ready')}, {initContainers: [side]});

  const [plan] = await planPods({...node, objects: NO_OBJECTS}, [pod], never);

  expect(plan?.calls.filter(({method}) => method === 'CreateContainer')).toHaveLength(2);
  expect(runtime.callsTo('ExecSync')).toEqual([]);
});
