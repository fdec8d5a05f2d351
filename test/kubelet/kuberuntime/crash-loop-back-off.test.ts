import {describe, expect, test} from 'vitest';
import type {Container, Pod} from '../../../src/api/v1.js';
import {Backoff} from '../../../src/base/backoff.js';
import type {RuntimeContainerStatus} from '../../../src/kubelet/container/pod-status.js';
import type {SyncFailure} from '../../../src/kubelet/container/sync-result.js';
import {crashLoopBackOff} from '../../../src/kubelet/kuberuntime/crash-loop-back-off.js';
import type {StartEnvironment} from '../../../src/kubelet/kuberuntime/start-container.js';
import type {SyncContext} from '../../../src/kubelet/kuberuntime/sync-context.js';
import {aContainer, aPod, aStatus, anInstance, UID} from './builders.js';

const WHO = `web_default(${UID})`;

/** One container's instance that ended at that second. */
function ended(seconds: number, name = 'main'): RuntimeContainerStatus {
  const instance = anInstance(name, 'CONTAINER_EXITED', {exitCode: 1});
  return {...instance, cri: {...instance.cri, finishedAt: BigInt(seconds) * 1_000_000_000n}};
}

/** A back-off that is asked whether a container may start, at times that a test sets. */
class Ground {
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
    const environment = {pod, status: aStatus(instances)} as Partial<StartEnvironment> as StartEnvironment;
    return crashLoopBackOff(context, environment, {container, kind: 'containers'});
  }
}

test('the delays double from 10 s to 5 min, and start anew after ten minutes without a crash', () => {
  const ground = new Ground();
  let now = 0;
  const delays = Array.from({length: 8}, () => {
    const crashedAt = now;
    const failure = ground.start(now, [ended(crashedAt)]);
    now = (failure?.retryAt ?? now * 1000) / 1000;
    expect(failure === undefined || ground.start(now, [ended(crashedAt)]) === undefined).toBe(true);
    return now - crashedAt;
  });

  expect(delays).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
  expect(ground.start(now + 700, [ended(now + 700)])).toBeUndefined();
  expect(ground.start(now + 700, [ended(now + 700)])?.message).toContain('back-off 10s ');
});

test('a container that waits says until when, in the kubelet’s words', () => {
  const ground = new Ground();
  const since = 1_700_000_000;
  ground.start(since, [ended(since)]);

  expect(ground.start(since + 4, [ended(since + 3)])).toEqual({
    reason: 'CrashLoopBackOff',
    message: `back-off 10s restarting failed container=main pod=${WHO}`,
    retryAt: (since + 13) * 1000,
    backOffMs: 10_000,
  });
  expect(ground.log).toEqual([
    `Warning BackOff Back-off restarting failed container main in pod ${WHO} [spec.containers{main}]`,
  ]);
});

describe('nothing waits', () => {
  test.each<[string, readonly RuntimeContainerStatus[]]>([
    ['that has not run', []],
    ['that runs', [anInstance('main', 'CONTAINER_RUNNING')]],
    ['because another one crashed', [ended(0, 'other')]],
  ])('%s', (_title, instances) => {
    const ground = new Ground();

    expect(ground.start(0, instances)).toBeUndefined();
    expect(ground.start(0, instances)).toBeUndefined();
    expect(ground.log).toEqual([]);
  });

  const [pod, container] = [aPod(), aContainer()];

  test.each<[string, {readonly pod?: Pod; readonly container?: Container}]>([
    ['another name', {pod: {...pod, metadata: {...pod.metadata, name: 'other'}}}],
    ['another namespace', {pod: {...pod, metadata: {...pod.metadata, namespace: 'other'}}}],
    ['another UID', {pod: {...pod, metadata: {...pod.metadata, uid: 'other'}}}],
    ['another image', {container: {...container, image: 'other'}}],
    ['other resources', {container: {...container, resources: {limits: {cpu: '1'}}}}],
  ])('when it has %s since', (_title, changed) => {
    const ground = new Ground();
    ground.start(0, [ended(0)]);

    expect(ground.start(1, [ended(0)], changed)).toBeUndefined();
    expect(ground.start(1, [ended(0)])).toBeDefined();
  });
});

test('two containers of a pod wait each for itself', () => {
  const ground = new Ground();
  ground.start(0, [ended(0)]);

  expect(ground.start(1, [ended(0, 'other')], {container: aContainer({name: 'other'})})).toBeUndefined();
});

test('the newest instance that has exited counts', () => {
  const ground = new Ground();
  ground.start(0, [ended(0)]);

  expect(ground.start(5, [anInstance('main', 'CONTAINER_CREATED'), ended(5), ended(0)])?.retryAt).toBe(
    15_000,
  );
});
