import {createServer, connect, type AddressInfo} from 'node:net';
import {afterEach, beforeEach, describe, expect, onTestFinished, test, vi} from 'vitest';
import {startStallTolerantTimer} from '../../../src/base/async/timer.js';

describe('a stall-tolerant timer', () => {
  beforeEach(() => {
    vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([1, 1000, 1001, 5000])('acts once, after %d ms', (ms) => {
    const act = vi.fn();
    startStallTolerantTimer(ms, act);
    vi.advanceTimersByTime(ms - 1);
    expect(act).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60_000);
    expect(act).toHaveBeenCalledOnce();
  });

  test.each([0, 1500, 4999])('does not act when it was cancelled after %d ms', (ms) => {
    const act = vi.fn();
    const cancel = startStallTolerantTimer(5000, act);
    vi.advanceTimersByTime(ms);
    cancel();
    vi.advanceTimersByTime(60_000);
    expect(act).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('a process that stalls for longer than the limit reads what arrived before the limit passes', async () => {
  const server = createServer((socket) => socket.end('answer')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const first = new Promise((resolve) => {
    const cancel = startStallTolerantTimer(1500, () => {
      resolve('limit');
    });
    socket.once('data', () => {
      cancel();
      resolve('answer');
    });
  });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1600);
  expect(await first).toBe('answer');
});
