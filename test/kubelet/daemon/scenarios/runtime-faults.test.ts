import {describe, expect, test} from 'vitest';
import type {ContainerEventResponse} from '../../../../src/cri/index.js';
import {aContainerSpec, aManifest} from '../../../commands/pod-scene.js';
import {DaemonTestbed, NOTHING_LEFT, type EventStream} from '../daemon-testbed.js';

const MINUTE_MS = 60_000;
const TWO = aManifest({containers: [aContainerSpec('main'), aContainerSpec('side')]});

async function aRunningPod(seed: Parameters<typeof DaemonTestbed.start>[0] = {}): Promise<DaemonTestbed> {
  const ground = await DaemonTestbed.start(seed);
  await ground.put('web.yaml', TWO);
  await ground.until('the pod runs', () => ground.statusOf('web').ready === 2);
  return ground;
}

/** The pod goes, whole, and nothing of anybody else's was touched on the way. */
async function expectCleanEnd(ground: DaemonTestbed): Promise<void> {
  await ground.remove('web.yaml');
  await ground.untilNothingIsLeft();
  expect(await ground.listRemains()).toEqual(NOTHING_LEFT);
  expect(ground.mostAtOnce).toBe(1);
  expect(ground.foreignTouched).toEqual([]);
}

describe.each([
  ['relists', false],
  ['events', true],
])('with %s', (_, eventedPleg) => {
  test('a runtime that is down for a minute finds its pods as they were, but for what has died', async () => {
    await using ground = await aRunningPod({eventedPleg});

    await ground.fake.crash();
    ground.kill('side');
    await ground.clock.sleep(MINUTE_MS);
    await ground.fake.restart();
    await ground.until('what had died runs again', () => ground.statusOf('web').restarts === 1);

    expect(ground.running).toEqual(['web-goldennode/main/0', 'web-goldennode/side/1']);
    expect(ground.errors).toContainEqual(
      expect.stringMatching(/^Skipping pod synchronization: container runtime is down/),
    );
    await expectCleanEnd(ground);
  });

  test('a runtime that is quickly started anew is not noticed by its pods', async () => {
    await using ground = await aRunningPod({eventedPleg});

    for (let time = 0; time < 5; time += 1) {
      await ground.fake.crash();
      await ground.clock.sleep(1500);
      await ground.fake.restart();
      await ground.clock.sleep(3000);
    }

    await ground.clock.sleep(2 * MINUTE_MS);
    expect(ground.running).toEqual(['web-goldennode/main/0', 'web-goldennode/side/0']);
    await expectCleanEnd(ground);
  });

  test.each([
    ['forward by a day', 86_400_000],
    ['back by a day', -86_400_000],
    ['back by a minute', -60_000],
  ])('a clock that jumps %s restarts nothing and lets all be healed', async (_where, jumpMs) => {
    await using ground = await aRunningPod({eventedPleg});

    ground.clock.jump(jumpMs);
    await ground.clock.sleep(10_000);
    expect(ground.running).toEqual(['web-goldennode/main/0', 'web-goldennode/side/0']);
    ground.kill('side');
    await ground.until('it runs again', () => ground.running.includes('web-goldennode/side/1'));

    expect(ground.clock.now() - ground.clock.jumpedAtMs).toBeLessThan(MINUTE_MS);
    await expectCleanEnd(ground);
  });

  test('a pod that ignores SIGTERM goes when its time is over', async () => {
    await using ground = await aRunningPod({
      eventedPleg,
      runtime: {behaviour: () => ({ignoresStop: true})},
    });

    const before = ground.clock.now();
    await expectCleanEnd(ground);

    expect(ground.clock.now() - before).toBeGreaterThanOrEqual(2000);
    // The runtime keeps what is left of it for 10 s more.
    expect(ground.clock.now() - before).toBeLessThan(40_000);
  });
});

/** What may happen to events on their way. */
const EVENT_FAULTS: Readonly<Record<string, (events: EventStream) => EventStream>> = {
  'come twice': async function* (events) {
    for await (const event of events) yield* [event, event];
  },
  'come in the wrong order': async function* (events) {
    const held: ContainerEventResponse[] = [];
    for await (const event of events) {
      held.unshift(event);
      if (held.length === 2) yield* held.splice(0);
    }
  },
  'are told all again with each': async function* (events) {
    const told: ContainerEventResponse[] = [];
    for await (const event of events) {
      told.push(event);
      yield* told;
    }
  },
  'are cut after each': async function* (events) {
    for await (const event of events) {
      yield event;
      return;
    }
  },
  'never come': async function* (events) {
    for await (const event of events) if (event.containerId === '') yield event;
  },
};

describe('events of the runtime that', () => {
  test.each(Object.entries(EVENT_FAULTS))('%s', async (_, mangle) => {
    await using ground = await aRunningPod({eventedPleg: true, mangleEvents: mangle});
    for (const attempt of [1, 2]) {
      ground.kill('side');
      await ground.until('it runs again', () => ground.running.includes(`web-goldennode/side/${attempt}`));
      await ground.clock.sleep(MINUTE_MS);
    }
    expect(ground.running).toEqual(['web-goldennode/main/0', 'web-goldennode/side/2']);
    expect(ground.statusOf('web')).toEqual({phase: 'Running', ready: 2, restarts: 2});
    await expectCleanEnd(ground);
  });
});
