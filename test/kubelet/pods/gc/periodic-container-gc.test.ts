import {expect, test} from 'vitest';
import {PeriodicContainerGc} from '../../../../src/kubelet/pods/gc/periodic-container-gc.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {podUid, type PodUid} from '../../../../src/cri/index.js';

test.each([-7_200_000, 7_200_000])(
  'garbage is collected once a minute, also after the clock jumps by %d ms',
  async (jumpMs) => {
    const clock = new FakeClock({nowMs: 86_400_000});
    let collected = 0;
    const collector = {
      removeDeadContainers: async () => undefined,
      collectGarbage: async () => {
        collected += 1;
      },
    };
    const gc = new PeriodicContainerGc({
      ...{collector, clock, policy: undefined},
      isUnwanted: () => false,
      isUnused: () => false,
    });
    await gc.collectIfDue();
    await gc.collectIfDue();
    expect(collected).toBe(1);
    clock.jump(jumpMs);
    clock.elapse(59_999);
    await gc.collectIfDue();
    expect(collected).toBe(1);
    clock.elapse(1);
    await gc.collectIfDue();
    await gc.collectIfDue();
    expect(collected).toBe(2);
  },
);

test('a node that lacks space also loses the containers of pods that have ended, at once', async () => {
  const clock = new FakeClock();
  const unwanted: (readonly PodUid[])[] = [];
  const uids = ['deleted', 'ended', 'running'].map((uid) => podUid(uid));
  const gc = new PeriodicContainerGc({
    collector: {
      removeDeadContainers: async () => undefined,
      collectGarbage: async ({isUnwanted}) => void unwanted.push(uids.filter((uid) => isUnwanted(uid))),
    },
    isUnwanted: (uid) => uid === 'deleted',
    isUnused: (uid) => uid === 'ended',
    ...{clock, policy: undefined},
  });
  await gc.collectIfDue();
  await gc.deleteUnused();
  expect(unwanted).toEqual([['deleted'], ['deleted', 'ended']]);
});

test('a round that takes longer than the period is not started twice', async () => {
  const clock = new FakeClock();
  const finish: (() => void)[] = [];
  const gc = new PeriodicContainerGc({
    collector: {
      removeDeadContainers: async () => undefined,
      collectGarbage: async () => new Promise((resolve) => finish.push(resolve)),
    },
    isUnwanted: () => false,
    isUnused: () => false,
    ...{clock, policy: undefined},
  });
  const first = gc.collectIfDue();
  clock.elapse(120_000);
  await gc.collectIfDue();
  expect(finish).toHaveLength(1);
  finish[0]?.();
  await first;
  const second = gc.collectIfDue();
  expect(finish).toHaveLength(2);
  finish[1]?.();
  await second;
});
