import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {containerId, type ContainerEventResponse} from '../../../../src/cri/index.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed, NOTHING_REMAINS, type EventStream} from '../daemon-testbed.js';

const MINUTE_MS = 60_000;
const TWO = aManifest({containers: [aContainerSpec('main'), aContainerSpec('side')]});

async function aRunningPod(options: Parameters<typeof DaemonTestbed.start>[0] = {}): Promise<DaemonTestbed> {
  const testbed = await DaemonTestbed.start(options);
  await testbed.put('web.yaml', TWO);
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 2);
  return testbed;
}

/** Deletes the pod and expects a complete cleanup without changes to foreign pods. */
async function expectCleanEnd(testbed: DaemonTestbed): Promise<void> {
  await testbed.remove('web.yaml');
  await testbed.untilAllRemoved();
  expect(await testbed.listRemains()).toEqual(NOTHING_REMAINS);
  expect(testbed.maxConcurrentInstances).toBe(1);
  expect(testbed.callsToForeignPod).toEqual([]);
}

test.each([
  ['garbage', Buffer.alloc(20, 0xff)],
  ['an empty event', Buffer.alloc(0)],
])('an event stream that sends %s is opened again', async (_, bytes) => {
  await using testbed = await aRunningPod({eventedPleg: true});
  const {length} = testbed.fake.callsTo('GetContainerEvents');
  testbed.fake.injectResponse('GetContainerEvents', bytes, {times: 2});
  testbed.fake.endEvents();
  await testbed.until(
    'the stream is open',
    () => testbed.fake.callsTo('GetContainerEvents').length === length + 3,
  );
  testbed.kill('side');
  await testbed.until('the killed container runs again', () => testbed.statusOf('web').restarts === 1);
  await expectCleanEnd(testbed);
});

describe.each([
  ['relists', false],
  ['events', true],
])('with %s', (_, eventedPleg) => {
  test('a runtime that is down for a minute does not affect running containers, and dead ones are restarted', async () => {
    await using testbed = await aRunningPod({eventedPleg});

    await testbed.fake.crash();
    testbed.kill('side');
    await testbed.clock.sleep(MINUTE_MS);
    await testbed.fake.restart();
    await testbed.until('the killed container runs again', () => testbed.statusOf('web').restarts === 1);

    expect(testbed.running).toEqual(['web-goldennode/main/0', 'web-goldennode/side/1']);
    expect(testbed.errors).toContainEqual(
      expect.stringMatching(/^Skipping pod synchronization: container runtime is down/),
    );
    await expectCleanEnd(testbed);
  });

  test('quick restarts of the runtime do not affect running containers', async () => {
    await using testbed = await aRunningPod({eventedPleg});

    for (let time = 0; time < 5; time += 1) {
      await testbed.fake.crash();
      await testbed.clock.sleep(1500);
      await testbed.fake.restart();
      await testbed.clock.sleep(3000);
    }

    await testbed.clock.sleep(2 * MINUTE_MS);
    expect(testbed.running).toEqual(['web-goldennode/main/0', 'web-goldennode/side/0']);
    await expectCleanEnd(testbed);
  });

  test.each([
    ['forward by a day', 86_400_000],
    ['back by a day', -86_400_000],
    ['back by a minute', -60_000],
  ])(
    'a clock that jumps %s restarts nothing, and dead containers are still restarted',
    async (_where, jumpMs) => {
      await using testbed = await aRunningPod({eventedPleg});

      testbed.clock.jump(jumpMs);
      await testbed.clock.sleep(10_000);
      expect(testbed.running).toEqual(['web-goldennode/main/0', 'web-goldennode/side/0']);
      testbed.kill('side');
      await testbed.until('it runs again', () => testbed.running.includes('web-goldennode/side/1'));

      expect(testbed.clock.now() - testbed.clock.jumpedAtMs).toBeLessThan(MINUTE_MS);
      await expectCleanEnd(testbed);
    },
  );

  test('a pod that ignores SIGTERM is removed after its grace period', async () => {
    await using testbed = await aRunningPod({
      eventedPleg,
      runtime: {behaviour: () => ({ignoresStop: true})},
    });

    const before = testbed.clock.now();
    await expectCleanEnd(testbed);

    expect(testbed.clock.now() - before).toBeGreaterThanOrEqual(2000);
    // Its containers are removed in the next minute.
    expect(testbed.clock.now() - before).toBeLessThan(90_000);
  });
});

/** Events of an endless stream in a millisecond. */
const FLOOD = 10;
const UNKNOWN = {podSandboxStatus: undefined, containersStatuses: []};

/** Yields the events amid an endless stream of events of containers that do not exist. */
async function* mergeEndless(events: EventStream): EventStream {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  let last: ContainerEventResponse | undefined;
  for (let count = 0; ; count += 1) {
    const pause = delay(1, undefined);
    const result = await Promise.race([next, pause]);
    if (result?.done === true) return;
    if (result !== undefined) {
      last = result.value;
      yield last;
      next = iterator.next();
    }
    for (let flood = 0; last !== undefined && flood < FLOOD; flood += 1)
      yield {...last, ...UNKNOWN, containerId: containerId(`${count}-${flood}`)};
  }
}

/** Faults of the runtime's event stream. */
const EVENT_FAULTS: Readonly<Record<string, (events: EventStream) => EventStream>> = {
  'are duplicated': async function* (events) {
    for await (const event of events) yield* [event, event];
  },
  'are reordered': async function* (events) {
    const held: ContainerEventResponse[] = [];
    for await (const event of events) {
      held.unshift(event);
      if (held.length === 2) yield* held.splice(0);
    }
  },
  'are all repeated with each new one': async function* (events) {
    const previous: ContainerEventResponse[] = [];
    for await (const event of events) {
      previous.push(event);
      yield* previous;
    }
  },
  'end after each one': async function* (events) {
    for await (const event of events) {
      yield event;
      return;
    }
  },
  'never stop': (events) => mergeEndless(events),
  'are lost': async function* (events) {
    for await (const event of events) if (event.containerId === '') yield event;
  },
};

describe('with runtime events that', () => {
  test.each(Object.entries(EVENT_FAULTS))('%s, dead containers are restarted', async (_, transform) => {
    await using testbed = await aRunningPod({eventedPleg: true, transformEvents: transform});
    for (const attempt of [1, 2]) {
      testbed.kill('side');
      await testbed.until('it runs again', () => testbed.running.includes(`web-goldennode/side/${attempt}`));
      await testbed.clock.sleep(MINUTE_MS);
    }
    expect(testbed.running).toEqual(['web-goldennode/main/0', 'web-goldennode/side/2']);
    expect(testbed.statusOf('web')).toEqual({phase: 'Running', ready: 2, restarts: 2});
    await expectCleanEnd(testbed);
  });
});
