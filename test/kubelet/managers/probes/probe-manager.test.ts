import {expect, onTestFinished, test} from 'vitest';
import type {Container, Pod, PodSpec, Probe} from '../../../../src/api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../../../src/api/types/v1-status.js';
import {containerId, podUid} from '../../../../src/cri/index.js';
import type {PodProbes, ProbeUpdate} from '../../../../src/kubelet/contract/probe-results.js';
import {ProbeManager} from '../../../../src/kubelet/managers/probes/probe-manager.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {aContainer, aContainerStatus, aPod, UID} from '../../../fakes/a-pod.js';

const RANDOM_HALF = 2 ** 31;
const uid = podUid(UID);
const probe = (fields: Partial<Probe> = {}): Probe => ({exec: {command: ['check']}, ...fields});

interface ProbeTestbed {
  readonly clock: FakeClock;
  readonly manager: ProbeManager;
  readonly probes: PodProbes;
  /** The command and the time in seconds of each run. */
  readonly runs: string[];
  readonly updates: string[];
  /** Exit code of the commands. */
  exitCode: number;
  /** Delays the commands until it resolves. */
  hang: Promise<void> | undefined;
}

function createTestbed(random = 0): ProbeTestbed {
  const clock = new FakeClock();
  const manager = new ProbeManager({
    clock,
    random: () => random,
    restartGraceMs: 10_000,
    willRestart: () => true,
  });
  const [runs, updates]: [string[], string[]] = [[], []];
  manager.subscribe(({probe: kind, status}: ProbeUpdate) => updates.push(`${kind} ${status}`));
  const execSync = async ({cmd = []}: {readonly cmd?: readonly string[]}) => {
    runs.push(`${cmd.join(' ')} ${clock.now() / 1000}`);
    await testbed.hang;
    return {exitCode: testbed.exitCode, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0)};
  };
  const probes = manager.createPodProbes({runtime: {execSync}, events: () => undefined});
  const testbed: ProbeTestbed = {clock, manager, probes, runs, updates, exitCode: 0, hang: undefined};
  return testbed;
}

function aProbedPod(fields: Partial<Container>, spec: Partial<PodSpec> = {}): Pod {
  return aPod({containers: [aContainer(fields)], ...spec});
}

function aStatusOf(fields: Partial<ContainerStatus> = {}): PodStatus {
  const state = {running: {startedAt: '1970-01-01T00:00:00Z'}};
  const status = aContainerStatus({containerID: 'x://c1', state, started: true, ...fields});
  return {phase: 'Running', containerStatuses: [status]};
}

const advanceSeconds = async (clock: FakeClock, seconds: number): Promise<void> => {
  await clock.advance(0);
  for (let each = 0; each < seconds; each++) await clock.advance(1000);
};

// Proves: Container.livenessProbe
test('a container is probed immediately and then in every period, no matter how long a probe takes', async () => {
  const testbed = createTestbed();
  testbed.probes.add(aProbedPod({livenessProbe: probe({periodSeconds: 3})}), aStatusOf());
  await advanceSeconds(testbed.clock, 4);
  let release = (): void => undefined;
  testbed.hang = new Promise((resolve) => (release = resolve));
  await advanceSeconds(testbed.clock, 9);
  testbed.hang = undefined;
  release();
  await advanceSeconds(testbed.clock, 6);

  // The periods missed while the probe of second 6 ran until second 13 are made up for once.
  expect(testbed.runs).toEqual(['check 0', 'check 3', 'check 6', 'check 13', 'check 15', 'check 18']);
});

test.each([-7_200_000, 7_200_000])(
  'probes continue in every period after the clock jumps by %d ms',
  async (jumpMs) => {
    const testbed = createTestbed();
    const status = aStatusOf({state: {running: {startedAt: '1969-12-31T00:00:00Z'}}});
    testbed.probes.add(aProbedPod({livenessProbe: probe({periodSeconds: 3})}), status);
    await advanceSeconds(testbed.clock, 4);
    const before = testbed.runs.length;
    testbed.clock.jump(jumpMs);
    await advanceSeconds(testbed.clock, 10);
    expect(testbed.runs.length - before).toBeGreaterThanOrEqual(2);
  },
);

test('probes continue after a programming error, which is reported with its part', async () => {
  const listeners = process.listeners('unhandledRejection');
  const reported: unknown[] = [];
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', (error) => reported.push(error));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of listeners) process.on('unhandledRejection', listener);
  });
  const testbed = createTestbed();
  testbed.hang = Promise.reject(new TypeError('a bug'));
  testbed.probes.add(aProbedPod({livenessProbe: probe({periodSeconds: 3})}), aStatusOf());
  await advanceSeconds(testbed.clock, 1);
  testbed.hang = undefined;
  await advanceSeconds(testbed.clock, 3);
  expect(testbed.runs).toEqual(['check 0', 'check 3']);
  expect(reported).toMatchObject([{part: 'probe worker', message: 'probe worker failed: a bug'}]);
});

test('first probes are spread over a period soon after the start of the kubelet and not later', async () => {
  const testbed = createTestbed(RANDOM_HALF);
  testbed.probes.add(aProbedPod({livenessProbe: probe({periodSeconds: 4})}), aStatusOf());
  await advanceSeconds(testbed.clock, 3);
  expect(testbed.runs).toEqual(['check 2']);
  testbed.manager.remove(uid);
  await advanceSeconds(testbed.clock, 2);
  testbed.probes.add(aProbedPod({livenessProbe: probe({periodSeconds: 4})}), aStatusOf());
  await advanceSeconds(testbed.clock, 1);
  expect(testbed.runs).toEqual(['check 2', 'check 5']);
});

test('a failed liveness probe is reported once and resumes with the next instance', async () => {
  const testbed = createTestbed();
  testbed.exitCode = 1;
  const pod = aProbedPod({livenessProbe: probe({periodSeconds: 1, failureThreshold: 2})});
  testbed.probes.add(pod, aStatusOf());
  await advanceSeconds(testbed.clock, 5);
  expect(testbed.runs).toEqual(['check 0', 'check 1']);
  expect(testbed.updates).toEqual(['liveness unhealthy']);
  expect(testbed.manager.results.liveness.get(containerId('c1'))).toBe('Failure');

  testbed.probes.observe(pod, aStatusOf({containerID: 'x://c2'}));
  await advanceSeconds(testbed.clock, 1);
  expect(testbed.runs).toHaveLength(3);
  expect(testbed.manager.results.liveness.get(containerId('c1'))).toBeUndefined();
  expect(testbed.manager.results.liveness.get(containerId('c2'))).toBe('Success');
});

test('changes of startup and readiness results are reported', async () => {
  const testbed = createTestbed();
  const pod = aProbedPod({
    startupProbe: probe({exec: {command: ['up']}, periodSeconds: 1}),
    readinessProbe: probe({exec: {command: ['ready']}, periodSeconds: 5}),
  });
  testbed.probes.add(pod, aStatusOf({started: false}));
  await advanceSeconds(testbed.clock, 1);
  expect(testbed.updates).toEqual(['startup unstarted', 'readiness not ready', 'startup started']);
  const container = pod.spec.containers[0]!;
  const instance = {container, id: containerId('c1'), before: undefined};
  expect(testbed.probes.readinessOf(instance)).toEqual({started: true, ready: false});

  // The status with started: true triggers a probe immediately instead of with the next period.
  testbed.probes.observe(pod, aStatusOf());
  await advanceSeconds(testbed.clock, 1);
  expect(testbed.runs).toEqual(['up 0', 'ready 1']);
  expect(testbed.updates.at(-1)).toBe('readiness ready');
  expect(testbed.probes.readinessOf(instance)).toEqual({started: true, ready: true});

  // The status of a ready container does not trigger a probe.
  testbed.probes.observe(pod, aStatusOf({ready: true}));
  await advanceSeconds(testbed.clock, 6);
  expect(testbed.runs).toEqual(['up 0', 'ready 1', 'ready 6']);
});

test('a container that has started and is not ready is probed with each status', async () => {
  const testbed = createTestbed();
  testbed.exitCode = 1;
  const pod = aProbedPod({readinessProbe: probe({periodSeconds: 100})});
  testbed.probes.add(pod, aStatusOf({ready: false}));
  await advanceSeconds(testbed.clock, 1);
  for (const fields of [{ready: false}, {ready: false}, {ready: false, started: false}, {ready: true}]) {
    testbed.probes.observe(pod, aStatusOf(fields));
    await advanceSeconds(testbed.clock, 1);
  }
  expect(testbed.runs).toEqual(['check 0', 'check 1', 'check 2']);
  testbed.manager.remove(uid);
});

test('a terminating pod is only probed for readiness, except for its sidecars', async () => {
  const testbed = createTestbed();
  const probesOf = (name: string): Partial<Container> => ({
    livenessProbe: probe({exec: {command: [name, 'live']}, periodSeconds: 1}),
    readinessProbe: probe({exec: {command: [name, 'ready']}, periodSeconds: 1}),
  });
  const side = aContainer({name: 'side', restartPolicy: 'Always', ...probesOf('side')});
  const pod = aProbedPod(probesOf('main'), {initContainers: [side, aContainer({name: 'setup'})]});
  const {containerStatuses: main} = aStatusOf();
  const {containerStatuses: sidecar} = aStatusOf({name: 'side', containerID: 'x://c2'});
  testbed.probes.add(pod, {containerStatuses: main!, initContainerStatuses: sidecar!});
  await advanceSeconds(testbed.clock, 1);
  testbed.probes.stopLivenessAndStartup(pod);
  testbed.runs.length = 0;
  await advanceSeconds(testbed.clock, 1);
  expect(testbed.runs.toSorted()).toEqual(['main ready 2', 'side live 2', 'side ready 2']);

  testbed.probes.remove(pod);
  await advanceSeconds(testbed.clock, 3);
  expect(testbed.runs).toHaveLength(3);
  expect(testbed.clock.sleeping).toBe(0);
  expect(testbed.manager.results.liveness.get(containerId('c2'))).toBeUndefined();
});

test('the result of a probe that ends after its pod was removed is discarded', async () => {
  const testbed = createTestbed();
  testbed.exitCode = 1;
  let release = (): void => undefined;
  testbed.hang = new Promise((resolve) => (release = resolve));
  testbed.probes.add(aProbedPod({livenessProbe: probe({failureThreshold: 1})}), aStatusOf());
  await advanceSeconds(testbed.clock, 1);
  testbed.manager.abandon(uid);
  release();
  await advanceSeconds(testbed.clock, 1);
  expect(testbed.updates).toEqual([]);
  expect(testbed.manager.results.liveness.get(containerId('c1'))).toBeUndefined();
});

test('cleanupPods ends the probes of pods that are no longer desired', async () => {
  const testbed = createTestbed();
  testbed.probes.add(aProbedPod({livenessProbe: probe({periodSeconds: 1})}), aStatusOf());
  await advanceSeconds(testbed.clock, 1);
  testbed.manager.cleanupPods((each) => each === uid);
  await advanceSeconds(testbed.clock, 1);
  expect(testbed.runs).toHaveLength(3);
  testbed.manager.cleanupPods(() => false);
  await advanceSeconds(testbed.clock, 3);
  expect(testbed.runs).toHaveLength(3);
});

test('500 pods with three probes each use one timer per probe and none after they are removed', async () => {
  const testbed = createTestbed();
  const all = {
    livenessProbe: probe({periodSeconds: 1}),
    readinessProbe: probe({periodSeconds: 1}),
    startupProbe: probe({periodSeconds: 1}),
  };
  const pods = Array.from({length: 500}, (_, index) =>
    aPod({containers: [aContainer(all)]}, {uid: `${UID.slice(0, -3)}${String(index).padStart(3, '0')}`}),
  );
  pods.forEach((pod, index) => {
    testbed.probes.add(pod, aStatusOf({containerID: `x://c${index}`}));
    testbed.probes.add(pod, aStatusOf({containerID: `x://c${index}`}));
  });
  await advanceSeconds(testbed.clock, 3);
  expect(testbed.clock.sleeping).toBe(1500);
  // Startup probes of started containers are not run.
  expect(testbed.runs).toHaveLength(4 * 1000);
  testbed.manager.cleanupPods(() => false);
  await advanceSeconds(testbed.clock, 1);
  expect(testbed.clock.sleeping).toBe(0);
});

// Proves: Probe.initialDelaySeconds
test('states reports the effective result, the last result and the next run of each probe', async () => {
  const testbed = createTestbed();
  const pod = aProbedPod({
    livenessProbe: probe({periodSeconds: 2, failureThreshold: 2}),
    readinessProbe: probe({initialDelaySeconds: 60}),
  });
  const states = (): unknown => testbed.manager.states(uid);
  testbed.probes.add(pod, aStatusOf());
  await advanceSeconds(testbed.clock, 3);
  const readiness = {container: 'main', kind: 'readiness', counts: 'Failure', last: undefined, inARow: 0};
  const [ready, live] = testbed.manager.states(uid);
  expect(ready).toMatchObject({...readiness, waitsFor: 'its time'});
  expect(live).toEqual({
    container: 'main',
    kind: 'liveness',
    counts: 'Success',
    last: {at: 2000, result: 'Success', output: ''},
    inARow: 2,
    threshold: 1,
    nextAt: 4000,
    waitsFor: undefined,
  });

  testbed.exitCode = 1;
  await advanceSeconds(testbed.clock, 2);
  expect(states()).toMatchObject([
    {},
    {counts: 'Success', last: {result: 'Failure'}, inARow: 1, threshold: 2},
  ]);
  await advanceSeconds(testbed.clock, 2);
  expect(states()).toMatchObject([{}, {counts: 'Failure', waitsFor: 'another instance'}]);

  testbed.probes.observe(pod, aStatusOf({containerID: 'x://c2'}));
  await advanceSeconds(testbed.clock, 2);
  expect(states()).toMatchObject([{}, {waitsFor: undefined, inARow: 1}]);
  testbed.manager.remove(uid);
  expect(states()).toEqual([]);
});
