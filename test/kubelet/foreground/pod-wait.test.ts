import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {PodWait} from '../../../src/kubelet/foreground/pod-wait.js';
import {aLocalPod} from '../pods/registry-testbed.js';

function aWait(): PodWait {
  const options = {wait: 'ready', retry: false, minReadyMs: 0, clock: systemClock} as const;
  return new PodWait(aLocalPod(), {...options, onStatus: () => undefined});
}

/** A promise that the test resolves. */
function aGate(): {readonly opened: Promise<void>; readonly open: () => void} {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {opened, open};
}

const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a unit of work has its value before it has ended, and the next one starts after its end', async () => {
  const wait = aWait();
  const gate = aGate();
  const steps: string[] = [];
  const first = wait.run<string>(async (done) => {
    done('value');
    await gate.opened;
    steps.push('first ended');
  });
  expect(await first).toBe('value');
  const second = wait.run<string>(async (done) => {
    steps.push('second started');
    done('other');
  });
  await settled();
  expect(steps).toEqual([]);
  gate.open();
  expect(await second).toBe('other');
  expect(steps).toEqual(['first ended', 'second started']);
});

test('a unit of work that fails rejects and does not keep the next one from running', async () => {
  const wait = aWait();
  const failing = wait.run(async () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  const next = wait.run<number>(async (done) => {
    done(1);
  });
  expect(await next).toBe(1);
});

test('release aborts the signal and waits for the end of the work', async () => {
  const wait = aWait();
  const gate = aGate();
  await wait.run<string>(async (done) => {
    done('value');
    await gate.opened;
  });
  let isReleased = false;
  const released = wait.release().then(() => {
    isReleased = true;
  });
  await settled();
  expect([wait.signal.aborted, isReleased]).toEqual([true, false]);
  gate.open();
  await released;
});
