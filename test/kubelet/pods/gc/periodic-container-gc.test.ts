import {expect, test} from 'vitest';
import {PeriodicContainerGc} from '../../../../src/kubelet/pods/gc/periodic-container-gc.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

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
    await gc.collectIfDue();
    await gc.collectIfDue();
    expect(collected).toBe(2);
  },
);
