import {expect, test} from 'vitest';
import type {Container, Pod, PodSpec, Probe} from '../../../../src/api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../../../src/api/types/v1-status.js';
import {containerId, podUid} from '../../../../src/cri/index.js';
import type {PodProbes, ProbeUpdate} from '../../../../src/kubelet/contract/probe-results.js';
import {ProbeManager} from '../../../../src/kubelet/managers/probes/probe-manager.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {aContainer, aPod, UID} from '../../pod-builders.js';

const HALF = 2 ** 31;
const uid = podUid(UID);
const probe = (fields: Partial<Probe> = {}): Probe => ({exec: {command: ['check']}, ...fields});

interface Ground {
  readonly clock: FakeClock;
  readonly manager: ProbeManager;
  readonly probes: PodProbes;
  /** When which command was run, in seconds. */
  readonly runs: string[];
  readonly told: string[];
  /** What commands end with. */
  exitCode: number;
  /** What commands wait for. */
  hang: Promise<void> | undefined;
}

function aGround(random = 0): Ground {
  const clock = new FakeClock();
  const manager = new ProbeManager({clock, random: () => random, willRestart: () => true});
  const [runs, told]: [string[], string[]] = [[], []];
  manager.subscribe(({probe: kind, status}: ProbeUpdate) => told.push(`${kind} ${status}`));
  const execSync = async ({cmd = []}: {readonly cmd?: readonly string[]}) => {
    runs.push(`${cmd.join(' ')} ${clock.now() / 1000}`);
    await ground.hang;
    return {exitCode: ground.exitCode, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0)};
  };
  const probes = manager.createPodProbes({runtime: {execSync}, events: () => undefined});
  const ground: Ground = {clock, manager, probes, runs, told, exitCode: 0, hang: undefined};
  return ground;
}

function aProbed(fields: Partial<Container>, spec: Partial<PodSpec> = {}): Pod {
  return aPod({containers: [aContainer(fields)], ...spec});
}

function aStatusOf(fields: Partial<ContainerStatus> = {}): PodStatus {
  const state = {running: {startedAt: '1970-01-01T00:00:00Z'}};
  const main = {name: 'main', image: 'i', imageID: '', restartCount: 0, containerID: 'x://c1', state};
  return {phase: 'Running', containerStatuses: [{...main, started: true, ready: false, ...fields}]};
}

const passSeconds = async (clock: FakeClock, seconds: number): Promise<void> => {
  await clock.advance(0);
  for (let each = 0; each < seconds; each++) await clock.advance(1000);
};

test('a container is probed at once, and then period by period however long a probe takes', async () => {
  const ground = aGround();
  ground.probes.add(aProbed({livenessProbe: probe({periodSeconds: 3})}), aStatusOf());
  await passSeconds(ground.clock, 4);
  let release = (): void => undefined;
  ground.hang = new Promise((resolve) => (release = resolve));
  await passSeconds(ground.clock, 9);
  ground.hang = undefined;
  release();
  await passSeconds(ground.clock, 6);

  // What was missed while the probe of second 6 took until 13 is made up for once.
  expect(ground.runs).toEqual(['check 0', 'check 3', 'check 6', 'check 13', 'check 15', 'check 18']);
});

test('soon after a start the first probes are spread over a period, later they are not', async () => {
  const ground = aGround(HALF);
  ground.probes.add(aProbed({livenessProbe: probe({periodSeconds: 4})}), aStatusOf());
  await passSeconds(ground.clock, 3);
  expect(ground.runs).toEqual(['check 2']);
  ground.manager.remove(uid);
  await passSeconds(ground.clock, 2);
  ground.probes.add(aProbed({livenessProbe: probe({periodSeconds: 4})}), aStatusOf());
  await passSeconds(ground.clock, 1);
  expect(ground.runs).toEqual(['check 2', 'check 5']);
});

test('what is unhealthy is told once, and probed again when there is another instance', async () => {
  const ground = aGround();
  ground.exitCode = 1;
  const pod = aProbed({livenessProbe: probe({periodSeconds: 1, failureThreshold: 2})});
  ground.probes.add(pod, aStatusOf());
  await passSeconds(ground.clock, 5);
  expect(ground.runs).toEqual(['check 0', 'check 1']);
  expect(ground.told).toEqual(['liveness unhealthy']);
  expect(ground.manager.results.liveness.get(containerId('c1'))).toBe('Failure');

  ground.probes.observe(pod, aStatusOf({containerID: 'x://c2'}));
  await passSeconds(ground.clock, 1);
  expect(ground.runs).toHaveLength(3);
  expect(ground.manager.results.liveness.get(containerId('c1'))).toBeUndefined();
  expect(ground.manager.results.liveness.get(containerId('c2'))).toBe('Success');
});

test('readiness and start are told as they change', async () => {
  const ground = aGround();
  const pod = aProbed({
    startupProbe: probe({exec: {command: ['up']}, periodSeconds: 1}),
    readinessProbe: probe({exec: {command: ['ready']}, periodSeconds: 5}),
  });
  ground.probes.add(pod, aStatusOf({started: false}));
  await passSeconds(ground.clock, 1);
  expect(ground.told).toEqual(['startup unstarted', 'readiness not ready', 'startup started']);
  const container = pod.spec.containers[0]!;
  const instance = {container, id: containerId('c1'), before: undefined};
  expect(ground.probes.readinessOf(instance)).toEqual({started: true, ready: false});

  // The status that tells of it has the container probed at once, not with the period.
  ground.probes.observe(pod, aStatusOf());
  await passSeconds(ground.clock, 1);
  expect(ground.runs).toEqual(['up 0', 'ready 1']);
  expect(ground.told.at(-1)).toBe('readiness ready');
  expect(ground.probes.readinessOf(instance)).toEqual({started: true, ready: true});

  // The same status again is no reason to probe.
  ground.probes.observe(pod, aStatusOf());
  await passSeconds(ground.clock, 6);
  expect(ground.runs).toEqual(['up 0', 'ready 1', 'ready 6']);
});

test('a pod that is about to end is probed for readiness only, its sidecars for all', async () => {
  const ground = aGround();
  const every = (name: string): Partial<Container> => ({
    livenessProbe: probe({exec: {command: [name, 'live']}, periodSeconds: 1}),
    readinessProbe: probe({exec: {command: [name, 'ready']}, periodSeconds: 1}),
  });
  const side = aContainer({name: 'side', restartPolicy: 'Always', ...every('side')});
  const pod = aProbed(every('main'), {initContainers: [side, aContainer({name: 'setup'})]});
  const {containerStatuses: main} = aStatusOf();
  const {containerStatuses: sidecar} = aStatusOf({name: 'side', containerID: 'x://c2'});
  ground.probes.add(pod, {containerStatuses: main!, initContainerStatuses: sidecar!});
  await passSeconds(ground.clock, 1);
  ground.probes.stopLivenessAndStartup(pod);
  ground.runs.length = 0;
  await passSeconds(ground.clock, 1);
  expect(ground.runs.toSorted()).toEqual(['main ready 2', 'side live 2', 'side ready 2']);

  ground.probes.remove(pod);
  await passSeconds(ground.clock, 3);
  expect(ground.runs).toHaveLength(3);
  expect(ground.clock.sleeping).toBe(0);
  expect(ground.manager.results.liveness.get(containerId('c2'))).toBeUndefined();
});

test('a probe that ends after its pod counts for nothing, and one of an abandoned pod is cut off', async () => {
  const ground = aGround();
  ground.exitCode = 1;
  let release = (): void => undefined;
  ground.hang = new Promise((resolve) => (release = resolve));
  ground.probes.add(aProbed({livenessProbe: probe({failureThreshold: 1})}), aStatusOf());
  await passSeconds(ground.clock, 1);
  ground.manager.abandon(uid);
  release();
  await passSeconds(ground.clock, 1);
  expect(ground.told).toEqual([]);
  expect(ground.manager.results.liveness.get(containerId('c1'))).toBeUndefined();
});

test('a cleanup ends the probes of pods that nobody wants', async () => {
  const ground = aGround();
  ground.probes.add(aProbed({livenessProbe: probe({periodSeconds: 1})}), aStatusOf());
  await passSeconds(ground.clock, 1);
  ground.manager.cleanupPods((each) => each === uid);
  await passSeconds(ground.clock, 1);
  expect(ground.runs).toHaveLength(3);
  ground.manager.cleanupPods(() => false);
  await passSeconds(ground.clock, 3);
  expect(ground.runs).toHaveLength(3);
});

test('five hundred pods with three probes each have one timer a probe, and none afterwards', async () => {
  const ground = aGround();
  const all = {
    livenessProbe: probe({periodSeconds: 1}),
    readinessProbe: probe({periodSeconds: 1}),
    startupProbe: probe({periodSeconds: 1}),
  };
  const pods = Array.from({length: 500}, (_, index) =>
    aPod({containers: [aContainer(all)]}, {uid: `${UID.slice(0, -3)}${String(index).padStart(3, '0')}`}),
  );
  pods.forEach((pod, index) => {
    ground.probes.add(pod, aStatusOf({containerID: `x://c${index}`}));
    ground.probes.add(pod, aStatusOf({containerID: `x://c${index}`}));
  });
  await passSeconds(ground.clock, 3);
  expect(ground.clock.sleeping).toBe(1500);
  // Startup probes of what has started are not run.
  expect(ground.runs).toHaveLength(4 * 1000);
  ground.manager.cleanupPods(() => false);
  await passSeconds(ground.clock, 1);
  expect(ground.clock.sleeping).toBe(0);
});

test('how probes stand is known: what counts, the last one, and what comes next', async () => {
  const ground = aGround();
  const pod = aProbed({
    livenessProbe: probe({periodSeconds: 2, failureThreshold: 2}),
    readinessProbe: probe({initialDelaySeconds: 60}),
  });
  const states = (): unknown => ground.manager.states(uid);
  ground.probes.add(pod, aStatusOf());
  await passSeconds(ground.clock, 3);
  const readiness = {container: 'main', kind: 'readiness', counts: 'Failure', last: undefined, inARow: 0};
  const [ready, live] = ground.manager.states(uid);
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

  ground.exitCode = 1;
  await passSeconds(ground.clock, 2);
  expect(states()).toMatchObject([
    {},
    {counts: 'Success', last: {result: 'Failure'}, inARow: 1, threshold: 2},
  ]);
  await passSeconds(ground.clock, 2);
  expect(states()).toMatchObject([{}, {counts: 'Failure', waitsFor: 'another instance'}]);

  ground.probes.observe(pod, aStatusOf({containerID: 'x://c2'}));
  await passSeconds(ground.clock, 2);
  expect(states()).toMatchObject([{}, {waitsFor: undefined, inARow: 1}]);
  ground.manager.remove(uid);
  expect(states()).toEqual([]);
});
