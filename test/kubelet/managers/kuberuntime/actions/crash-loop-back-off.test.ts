import {describe, expect, test} from 'vitest';
import {hashContainer} from '../../../../../src/api/container-hash.js';
import type {Container, Pod} from '../../../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../../../src/api/types/v1-status.js';
import {Backoff} from '../../../../../src/base/async/backoff.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import type {SyncFailure} from '../../../../../src/kubelet/contract/sync-result.js';
import {
  checkCrashLoopBackOff,
  createCrashLoopBackOff,
  restoreCrashLoopBackOff,
} from '../../../../../src/kubelet/managers/kuberuntime/actions/crash-loop-back-off.js';
import type {StartEnvironment} from '../../../../../src/kubelet/managers/kuberuntime/actions/start-container.js';
import type {SyncContext} from '../../../../../src/kubelet/managers/kuberuntime/sync-context.js';
import {aContainer, aPod, UID} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../../fakes/a-runtime-pod.js';

const POD_NAME = `web_default(${UID})`;

/** Creates an instance of a container that exited at this time. */
function exited(seconds: number, name = 'main'): RuntimeContainerStatus {
  const finishedAt = BigInt(seconds) * 1_000_000_000n;
  return anInstance(name, 'CONTAINER_EXITED', {exitCode: 1, finishedAt});
}

/** Checks the back-off of containers at the times that a test sets. */
class BackOffFixture {
  readonly log: string[] = [];
  readonly #backoff = new Backoff(10_000, 300_000);
  #now = 0;

  start(
    seconds: number,
    instances: readonly RuntimeContainerStatus[],
    {pod = aPod(), container = aContainer()}: {readonly pod?: Pod; readonly container?: Container} = {},
  ): SyncFailure | undefined {
    this.#now = seconds * 1000;
    const context = {
      clock: {now: () => this.#now},
      crashBackoff: this.#backoff,
      events: ({type, reason, message, fieldPath}) => {
        this.log.push(`${type} ${reason} ${message} [${fieldPath}]`);
      },
    } as Partial<SyncContext> as SyncContext;
    const environment = {
      pod,
      status: aRuntimePod(instances),
    } as Partial<StartEnvironment> as StartEnvironment;
    return checkCrashLoopBackOff(context, environment, {container, kind: 'containers'});
  }
}

test('the delays double from 10 s to 5 min and reset after ten minutes without a crash', () => {
  const fixture = new BackOffFixture();
  let now = 0;
  const delays = Array.from({length: 8}, () => {
    const crashedAt = now;
    const failure = fixture.start(now, [exited(crashedAt)]);
    now = (failure?.retryAt ?? now * 1000) / 1000;
    expect(failure === undefined || fixture.start(now, [exited(crashedAt)]) === undefined).toBe(true);
    return now - crashedAt;
  });

  expect(delays).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
  expect(fixture.start(now + 700, [exited(now + 700)])).toBeUndefined();
  expect(fixture.start(now + 700, [exited(now + 700)])?.message).toContain('back-off 10s ');
});

test('a delay with a small maximum is kept for ten minutes too', () => {
  const backoff = createCrashLoopBackOff(60_000);
  for (const seconds of [0, 100, 200, 800]) backoff.next('web', seconds * 1000, seconds * 1000);
  expect(backoff.get('web')).toBe(60_000);
});

test('a container in back-off has the kubelet’s message and a retry time', () => {
  const fixture = new BackOffFixture();
  const since = 1_700_000_000;
  fixture.start(since, [exited(since)]);

  expect(fixture.start(since + 4, [exited(since + 3)])).toEqual({
    reason: 'CrashLoopBackOff',
    message: `back-off 10s restarting failed container=main pod=${POD_NAME}`,
    retryAt: (since + 13) * 1000,
    backOffMs: 10_000,
  });
  expect(fixture.log).toEqual([
    `Warning BackOff Back-off restarting failed container main in pod ${POD_NAME} [spec.containers{main}]`,
  ]);
});

describe('a container is started without a delay', () => {
  test.each<[string, readonly RuntimeContainerStatus[]]>([
    ['if it has no instance', []],
    ['if it is running', [anInstance('main', 'CONTAINER_RUNNING')]],
    ['if another one crashed', [exited(0, 'other')]],
  ])('%s', (_title, instances) => {
    const fixture = new BackOffFixture();

    expect(fixture.start(0, instances)).toBeUndefined();
    expect(fixture.start(0, instances)).toBeUndefined();
    expect(fixture.log).toEqual([]);
  });

  const [pod, container] = [aPod(), aContainer()];

  test.each<[string, {readonly pod?: Pod; readonly container?: Container}]>([
    ['another name', {pod: {...pod, metadata: {...pod.metadata, name: 'other'}}}],
    ['another namespace', {pod: {...pod, metadata: {...pod.metadata, namespace: 'other'}}}],
    ['another UID', {pod: {...pod, metadata: {...pod.metadata, uid: 'other'}}}],
    ['another image', {container: {...container, image: 'other'}}],
    ['other resources', {container: {...container, resources: {limits: {cpu: '1'}}}}],
  ])('if it has %s', (_title, changed) => {
    const fixture = new BackOffFixture();
    fixture.start(0, [exited(0)]);

    expect(fixture.start(1, [exited(0)], changed)).toBeUndefined();
    expect(fixture.start(1, [exited(0)])).toBeDefined();
  });
});

test('containers of a pod have separate back-offs', () => {
  const fixture = new BackOffFixture();
  fixture.start(0, [exited(0)]);

  expect(fixture.start(1, [exited(0, 'other')], {container: aContainer({name: 'other'})})).toBeUndefined();
});

test('the newest exited instance determines the retry time', () => {
  const fixture = new BackOffFixture();
  fixture.start(0, [exited(0)]);

  expect(fixture.start(5, [anInstance('main', 'CONTAINER_CREATED'), exited(5), exited(0)])?.retryAt).toBe(
    15_000,
  );
});

describe('the delay of a container that crashed before the kubelet started', () => {
  const AT = Date.parse('2026-05-01T12:00:00Z') / 1000;
  const container = aContainer();
  const hash = hashContainer(container);

  /** Creates an instance that was created and exited at these times, in s after AT. */
  const instance = (restartCount: number, created: number, finished: number): RuntimeContainerStatus => ({
    ...anInstance('main', 'CONTAINER_EXITED', {
      createdAt: BigInt(AT + created) * 1_000_000_000n,
      finishedAt: BigInt(AT + finished) * 1_000_000_000n,
    }),
    restartCount,
    hash,
  });
  const lastEndedAt = (finishedAt: string): PodStatus => ({
    containerStatuses: [
      {
        ...{name: 'main', ready: false, restartCount: 3, image: '', imageID: ''},
        lastState: {terminated: {exitCode: 1, finishedAt}},
      },
    ],
  });

  /** Returns the delays that a kubelet restores which took over the pod at this time, in s after AT. */
  function restoredDelays(
    instances: readonly RuntimeContainerStatus[],
    known: PodStatus,
    takenOverAt: number,
  ): readonly number[] {
    const crashBackoff = createCrashLoopBackOff();
    const keys: string[] = [];
    const restore = crashBackoff.restore.bind(crashBackoff);
    crashBackoff.restore = (key, ...rest) => {
      keys.push(key);
      restore(key, ...rest);
    };
    const pod = aPod({containers: [container]});
    const left = {pod, observed: aRuntimePod(instances), known, takenOverAt: (AT + takenOverAt) * 1000};
    restoreCrashLoopBackOff({crashBackoff}, left);
    return keys.map((key) => crashBackoff.get(key));
  }

  /** Returns a status of a container that waits for as long after the exit of the instance. */
  const waiting = (id: string, delay: string): PodStatus => ({
    containerStatuses: [
      {
        ...{name: 'main', ready: false, restartCount: 3, image: '', imageID: ''},
        containerID: `containerd://${id}`,
        state: {
          waiting: {
            reason: 'CrashLoopBackOff',
            message: `back-off ${delay} restarting failed container=main pod=web_default(1)`,
          },
        },
      },
    ],
  });

  test.each<[string, readonly RuntimeContainerStatus[], PodStatus, number]>([
    ['is unknown for a first instance', [instance(0, 0, 1)], {}, 0],
    ['starts anew without an earlier exit', [instance(3, 0, 1)], {}, 10_000],
    ['doubles the wait since the earlier instance', [instance(3, 0, 1), instance(2, -25, -21)], {}, 40_000],
    [
      'doubles the wait since the exit in the status',
      [instance(3, 0, 1)],
      lastEndedAt('2026-05-01T11:59:15Z'),
      80_000,
    ],
    ['is the one that the status reports', [instance(3, 0, 1)], waiting('main-0', '2m40s'), 160_000],
    [
      'is the longest one if the status reports that',
      [instance(3, 0, 1)],
      waiting('main-0', '5m0s'),
      300_000,
    ],
    ['is not that of another instance', [instance(3, 0, 1)], waiting('other', '2m40s'), 10_000],
    ['is unknown for another image', [{...instance(3, 0, 1), hash: 'other'}], {}, 0],
  ])('%s', (_, instances, known, delayMs) => {
    expect(restoredDelays(instances, known, 30)).toEqual(delayMs === 0 ? [] : [delayMs]);
  });

  test('is forgotten if the kubelet itself has created the newest instance', () => {
    expect(restoredDelays([instance(3, 0, 1), instance(2, -25, -21)], {}, -1)).toEqual([]);
  });
});
