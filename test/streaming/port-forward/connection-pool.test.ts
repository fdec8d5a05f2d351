import {expect, test} from 'vitest';
import {ConnectionPool} from '../../../src/streaming/port-forward/connection-pool.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';

/** A connection that only has an open state. */
class Plain {
  isOpen = true;

  close(): void {
    this.isOpen = false;
  }
}

function aPool({limit = 10, idleMs = 1000} = {}) {
  const clock = new FakeClock();
  const opened: Plain[] = [];
  const failures: Error[] = [];
  const hold = {opening: Promise.resolve(), isOpening: false, go: (): void => undefined};
  const open = async (): Promise<Plain> => {
    hold.isOpening = true;
    await hold.opening;
    hold.isOpening = false;
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    const item = new Plain();
    opened.push(item);
    return item;
  };
  return {pool: new ConnectionPool({open, limit, idleMs, clock}), clock, opened, failures, hold};
}

test('a released connection is reused', async () => {
  const {pool, opened} = aPool();
  const first = await pool.lease();
  pool.release(first.item);
  const second = await pool.lease();
  expect(second).toEqual({item: first.item, reused: true});
  expect(opened).toHaveLength(1);
});

test('a second lease opens a connection', async () => {
  const {pool} = aPool();
  const [first, second] = [await pool.lease(), await pool.lease()];
  expect([first.reused, second.reused, first.item === second.item]).toEqual([false, false, false]);
});

test('the most recently used idle connection is leased first, so that the others expire', async () => {
  const {pool, clock, opened} = aPool();
  const leased = [await pool.lease(), await pool.lease()];
  for (const {item} of leased) pool.release(item);
  await clock.advance(900);
  const busy = await pool.lease();
  await clock.advance(200);
  pool.release(busy.item);
  expect(opened.map(({isOpen}) => isOpen)).toEqual([false, true]);
  await clock.advance(1000);
  expect(opened.map(({isOpen}) => isOpen)).toEqual([false, false]);
  expect(clock.sleeping).toBe(0);
});

test('a connection that ended while idle is not leased', async () => {
  const {pool} = aPool();
  const {item} = await pool.lease();
  pool.release(item);
  item.close();
  expect((await pool.lease()).reused).toBe(false);
});

test('a discarded connection is closed', async () => {
  const {pool} = aPool();
  const {item} = await pool.lease();
  pool.discard(item);
  expect(item.isOpen).toBe(false);
  expect((await pool.lease()).reused).toBe(false);
});

test('leases above the limit wait in order', async () => {
  const {pool, opened} = aPool({limit: 1});
  const first = await pool.lease();
  const order: string[] = [];
  const second = pool.lease().then(({item}) => {
    order.push('second');
    pool.release(item);
  });
  const third = pool.lease().then(() => order.push('third'));
  pool.release(first.item);
  await Promise.all([second, third]);
  expect({order, opened: opened.length}).toEqual({order: ['second', 'third'], opened: 1});
});

test('a failed connection does not count against the limit', async () => {
  const {pool, failures} = aPool({limit: 1});
  failures.push(new Error('no runtime'));
  await expect(pool.lease()).rejects.toThrow('no runtime');
  expect((await pool.lease()).reused).toBe(false);
});

test('a second release has no effect', async () => {
  const {pool} = aPool({limit: 1});
  const {item} = await pool.lease();
  pool.release(item);
  pool.release(item);
  pool.discard(item);
  expect(await pool.lease()).toEqual({item, reused: true});
});

test('closing the pool rejects waiting and later leases without opening connections', async () => {
  const {pool, opened} = aPool({limit: 1});
  const {item} = await pool.lease();
  const waiting = pool.lease();
  pool.close();
  await expect(waiting).rejects.toThrow('port forwarding has stopped');
  pool.discard(item);
  await expect(pool.lease()).rejects.toThrow('port forwarding has stopped');
  expect(opened).toHaveLength(1);
});

test('closing the pool closes idle, leased and opening connections', async () => {
  const {pool, clock, opened, hold} = aPool();
  const [idle] = [await pool.lease(), await pool.lease()];
  pool.release(idle.item);
  hold.opening = new Promise((resolve) => (hold.go = resolve));
  const late = [pool.lease(), pool.lease()];
  await until(() => hold.isOpening);
  pool.close();
  hold.go();
  await Promise.all(late);
  await clock.advance(0);
  expect(opened.every(({isOpen}) => !isOpen)).toBe(true);
  expect(clock.sleeping).toBe(0);
});
