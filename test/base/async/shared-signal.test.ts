import {getEventListeners} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import {CallbackAbortController, onAbort} from '../../../src/base/async/abort-callbacks.js';
import {abortable} from '../../../src/base/async/abortable.js';
import {aborted} from '../../../src/base/async/aborted.js';
import {anySignal} from '../../../src/base/async/any-signal.js';
import {AsyncQueue} from '../../../src/base/async/async-queue.js';
import {CallLimiter} from '../../../src/base/async/call-limiter.js';
import {systemClock} from '../../../src/base/clock.js';
import {grpcTransport} from '../../../src/cri/grpc-transport.js';
import {PullQueue} from '../../../src/kubelet/managers/images/pull-queue.js';
import {FakeClock} from '../../fakes/fake-clock.js';

const never = new Promise<never>(() => undefined);
const HOUR_MS = 3_600_000;

/** Creates what waits: many waiters share what it returns, and the signal. */
const WAITERS: Readonly<Record<string, () => (signal: AbortSignal) => Promise<unknown>>> = {
  'callbacks of a signal': () => async (signal) => {
    await new Promise<void>((resolve) => {
      onAbort(signal, resolve);
    });
  },
  'what waits for the signal itself': () => aborted,
  'abortable work': () => async (signal) => abortable(never, signal),
  'signals that follow it': () => async (signal) => {
    using either = anySignal(signal, new AbortController().signal);
    await aborted(either.signal);
  },
  'sleeps of the clock': () => async (signal) => systemClock.sleep(HOUR_MS, signal),
  'readers of queues': () => async (signal) => new AsyncQueue<string>().next(signal),
  'calls that wait for their turn': () => {
    const limiter = new CallLimiter({concurrency: 1, patienceMs: HOUR_MS}, new FakeClock());
    void limiter.run(0, () => never);
    return async (signal) => limiter.run(0, async () => Promise.resolve(), signal);
  },
  'pulls that wait for their turn': () => {
    const queue = new PullQueue(1);
    void queue.run(() => never, new AbortController().signal);
    return async (signal) => queue.run(async () => Promise.resolve(), signal);
  },
  'streams of grpc-js': () => {
    const transport = grpcTransport('unix:///nonexistent/runtime.sock');
    onTestFinished(() => {
      transport.close();
    });
    return async (signal) => {
      const options = {signal, timeoutMs: Infinity};
      const path = '/runtime.v1.RuntimeService/GetContainerEvents';
      for await (const message of transport.stream(path, Buffer.alloc(0), options))
        expect(message).toBe('none');
    };
  },
};

/** Collects the warnings of Node.js about too many listeners. */
function collectWarnings(): () => Promise<readonly string[]> {
  const warnings: string[] = [];
  const add = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning.message);
  };
  process.on('warning', add);
  onTestFinished(() => {
    process.off('warning', add);
  });
  return async () => {
    // Warnings are emitted in the next turn.
    await new Promise(setImmediate);
    return warnings;
  };
}

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test.each(
  Object.entries(WAITERS).flatMap(([name, create]) =>
    [500, 2000].map((count) => [count, name, create] as const),
  ),
)('%d of %s share a listener, which is gone when they have ended', async (count, _, create) => {
  const warnings = collectWarnings();
  const controller = new AbortController();
  const wait = create();
  const waits = Array.from({length: count}, async () => wait(controller.signal).catch(() => 'rejected'));
  await new Promise(setImmediate);
  expect(listeners(controller.signal)).toBeLessThanOrEqual(1);
  controller.abort(new Error('the end'));
  await Promise.all(waits);
  expect(listeners(controller.signal)).toBe(0);
  expect(await warnings()).toEqual([]);
});

test.each([
  ['any signal', () => new AbortController()],
  ['a signal with callbacks', () => new CallbackAbortController()],
])('100,000 uses of %s leave nothing at it', async (_, create) => {
  const warnings = collectWarnings();
  const {signal} = create();
  const queue = new PullQueue(1);
  for (let use = 0; use < 20_000; use += 1) {
    onAbort(signal, () => undefined)();
    await abortable(Promise.resolve(), signal);
    using either = anySignal(signal);
    expect(either.signal.aborted).toBe(false);
    await Promise.all([1, 2].map(async () => queue.run(async () => Promise.resolve(), signal)));
  }
  await Promise.all(Array.from({length: 1000}, async () => systemClock.sleep(0, signal)));
  expect(listeners(signal)).toBe(0);
  expect(await warnings()).toEqual([]);
});
