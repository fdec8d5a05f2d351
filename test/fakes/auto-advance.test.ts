import {expect, onTestFinished, test} from 'vitest';
import {connect} from '../../src/cri/index.js';
import {nextIteration} from '../../src/base/async/next-iteration.js';
import {AutoAdvance, FakeClock} from './fake-clock.js';
import {FakeRuntime} from './fake-runtime.js';

/** Time in ms by which each turn of the event loop is delayed, as on a slow machine. */
const TURN_MS = 3;

/** Makes every turn of the event loop slow until the test has finished. */
function slowDown(): void {
  let isSlow = true;
  onTestFinished(() => {
    isSlow = false;
  });
  const turn = (): void => {
    const end = performance.now() + TURN_MS;
    while (performance.now() < end);
    if (isSlow) setTimeout(turn);
  };
  turn();
}

test('no time passes during the calls to a runtime in the same process, however slow it is', async () => {
  await using runtime = await FakeRuntime.start();
  const connection = connect(runtime.endpoint);
  onTestFinished(() => {
    connection.close();
  });
  await connection.runtime.version();
  const clock = new FakeClock();
  slowDown();
  using _ = new AutoAdvance(clock);
  for (let n = 0; n < 100; n++) await connection.runtime.version();
  expect(clock.now()).toBe(0);
  await clock.sleep(1000);
});

test('no time passes while code continues in the next turn of the event loop, however slow it is', async () => {
  const clock = new FakeClock();
  slowDown();
  using _ = new AutoAdvance(clock);
  for (let n = 0; n < 100; n++) await nextIteration();
  expect(clock.now()).toBe(0);
  await clock.sleep(1000);
});

test('no time passes while code is loaded on demand', async () => {
  const clock = new FakeClock();
  using _ = new AutoAdvance(clock);
  await import('../../src/kubelet/index.js');
  expect(clock.now()).toBe(0);
  await clock.sleep(1000);
});
