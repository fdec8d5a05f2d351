import {expect, onTestFinished, test} from 'vitest';
import type {Container, Pod} from '../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../src/base/clock.js';
import {NO_OBJECTS} from '../../../../src/kubelet/contract/api-objects.js';
import type {SyncPodsOptions} from '../../../../src/kubelet/foreground/sync-pods.js';
import type {PodRegistry} from '../../../../src/kubelet/pods/registry/pod-registry.js';
import {SILENT_OBSERVER} from '../../../../src/kubelet/pods/registry/pod-registry-options.js';
import {openPodRegistry} from '../../../../src/kubelet/pods/registry/open-pod-registry.js';
import {planPods} from '../../../../src/kubelet/plan/plan-pods.js';
import {BUSYBOX, type FakeRuntime, type FakeRuntimeOptions} from '../../../fakes/fake-runtime.js';
import {connect, type Connection} from '../../../../src/cri/index.js';
import {syncOnePod} from '../../foreground/sync-one-pod.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';

const never = new AbortController().signal;
const exec = (word: string): object => ({exec: {command: [word]}, periodSeconds: 1});

interface ProbedRegistry {
  readonly runtime: FakeRuntime;
  readonly pods: PodRegistry;
  readonly connection: Connection;
  readonly events: string[];
  readonly node: Parameters<typeof openPodRegistry>[0];
}

/** Starts a PodRegistry with the probes and other parts that kcri assembles itself. */
async function startProbedRegistry(runtimeOptions: FakeRuntimeOptions): Promise<ProbedRegistry> {
  const {runtime, node} = await startRegistryTestbed(runtimeOptions);
  const services = connect(runtime.endpoint);
  onTestFinished(() => {
    services.close();
  });
  const events: string[] = [];
  const options = {services, endpoint: runtime.endpoint, node, runtimeName: 'fake', clock: systemClock};
  const pods = openPodRegistry(options, {
    ...SILENT_OBSERVER,
    event: ({reason, message}) => void events.push(`${reason}: ${message}`),
  });
  return {runtime, pods, connection: services, events, node: options};
}

function aPodOf(container: Partial<Container>, fields: object = {}): Pod {
  const main = {name: 'main', image: BUSYBOX, command: ['sleep', 'infinity'], ...container};
  return aLocalPod({containers: [main], ...fields});
}

// Proves: Container.readinessProbe, Container.startupProbe
test('a sync waits until a container has started and is ready, then stops its probes', async () => {
  let tries = 0;
  const testbed = await startProbedRegistry({
    exec: ([word]) => ({exitCode: word === 'up' && ++tries < 2 ? 1 : 0}),
  });
  const {runtime, events} = testbed;
  const pod = aPodOf({startupProbe: exec('up'), readinessProbe: exec('ready')});
  const observed: string[] = [];
  const onStatus: SyncPodsOptions['onStatus'] = (_, {containerStatuses: [main] = []}) =>
    observed.push(`${main?.started} ${main?.ready}`);

  const outcome = await syncOnePod(testbed, pod, {onStatus});

  expect(outcome.kind).toBe('ready');
  expect(observed).toEqual(['false false', 'false false', 'true false', 'true true']);
  expect(events.filter((event) => event.startsWith('Unhealthy'))).toEqual([
    'Unhealthy: Startup probe failed: ',
  ]);
  const calls = runtime.callsTo('ExecSync').length;
  await systemClock.sleep(1200);
  expect(runtime.callsTo('ExecSync')).toHaveLength(calls);
});

test('a ready container is still ready in the status that another process observes', async () => {
  const testbed = await startProbedRegistry({exec: () => ({exitCode: 0})});
  const pod = aPodOf({startupProbe: exec('up'), readinessProbe: exec('ready')});
  await syncOnePod(testbed, pod);

  const {status} = await openPodRegistry(testbed.node, SILENT_OBSERVER).createSyncer(pod).observe();

  expect(status).toMatchObject({containerStatuses: [{started: true, ready: true}]});
});

// Proves: Probe.periodSeconds
test('an unhealthy container is restarted during a sync', async () => {
  const testbed = await startProbedRegistry({exec: () => ({exitCode: 1, stderr: 'ill'})});
  const {runtime, events} = testbed;
  const pod = aPodOf({livenessProbe: {...exec('live'), failureThreshold: 1}});
  const controller = new AbortController();
  const syncing = syncOnePod(testbed, pod, {wait: 'complete'}, controller.signal);
  await expect.poll(() => runtime.containers.length).toBe(2);
  controller.abort();
  await syncing;

  expect(events.filter((event) => /^(Unhealthy|Killing)/.test(event)).slice(0, 2)).toEqual([
    'Unhealthy: Liveness probe failed: ill',
    'Killing: Container main failed liveness probe, will be restarted',
  ]);
});

test('a pod is stopped at its active deadline', async () => {
  const testbed = await startProbedRegistry({});
  const {runtime, events} = testbed;
  const pod = aPodOf({}, {activeDeadlineSeconds: 1});

  const outcome = await syncOnePod(testbed, pod, {wait: 'complete'});

  expect(outcome).toMatchObject({
    kind: 'complete',
    problem: 'DeadlineExceeded: Pod was active on the node longer than the specified deadline',
  });
  expect(runtime.containers.map(({state}) => state)).toEqual(['CONTAINER_EXITED']);
  const exceeded = 'DeadlineExceeded: Pod was active on the node longer than the specified deadline';
  expect(new Set(events.filter((event) => event.startsWith('DeadlineExceeded')))).toEqual(
    new Set([exceeded]),
  );
});

test('a plan assumes healthy containers and runs no probes', async () => {
  const {node, runtime} = await startProbedRegistry({});
  const side = {name: 'side', image: BUSYBOX, restartPolicy: 'Always', startupProbe: exec('up')};
  const pod = aPodOf({readinessProbe: exec('ready')}, {initContainers: [side]});

  const [plan] = await planPods({...node, objects: NO_OBJECTS}, [pod], never);

  expect(plan?.calls.filter(({method}) => method === 'CreateContainer')).toHaveLength(2);
  expect(runtime.callsTo('ExecSync')).toEqual([]);
});
