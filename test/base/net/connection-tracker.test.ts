import {connect, createServer, type Socket} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {ConnectionTracker, type TrackedConnection} from '../../../src/base/net/connection-tracker.js';
import {listenOnLoopback} from '../listen-on-loopback.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {until} from '../until.js';

/** Starts a server that allows two connections. `open` connects a client and resolves when the server has seen it. */
async function start() {
  const clock = new FakeClock();
  const tracker = new ConnectionTracker(2, clock);
  const accepted: (TrackedConnection | undefined)[] = [];
  const server = createServer((socket) => accepted.push(tracker.add(socket)));
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    tracker.destroyAll();
    server.close();
  });
  const open = async (): Promise<{client: Socket; connection: TrackedConnection | undefined}> => {
    const count = accepted.length;
    const client = connect(port, '127.0.0.1');
    client.on('error', () => undefined);
    onTestFinished(() => {
      client.destroy();
    });
    await until(() => accepted.length > count);
    return {client, connection: accepted[count]};
  };
  return {clock, open};
}

test('at the limit, a new connection replaces the one that has been idle the longest', async () => {
  const {open} = await start();
  const [first, second] = [await open(), await open()];
  first.connection?.markBusy();
  first.connection?.markIdle();
  const third = await open();
  expect(third.connection).toBeDefined();
  await until(() => second.connection?.socket.destroyed === true);
  expect(first.connection?.socket.destroyed).toBe(false);
});

test('at the limit, a new connection is refused if all others are busy', async () => {
  const {open} = await start();
  const [first, second] = [await open(), await open()];
  first.connection?.markBusy();
  second.connection?.markBusy();
  expect((await open()).connection).toBeUndefined();
  second.connection?.markIdle();
  expect((await open()).connection).toBeDefined();
  expect(first.connection?.socket.destroyed).toBe(false);
});

test('a closed connection makes room', async () => {
  const {open} = await start();
  const [first, second] = [await open(), await open()];
  first.client.destroy();
  await until(() => first.connection?.socket.destroyed === true);
  await open();
  expect(second.connection?.socket.destroyed).toBe(false);
});

test('a connection whose client is still receiving is replaced last', async () => {
  const {open} = await start();
  const [first, second] = [await open(), await open()];
  first.client.pause();
  first.connection?.socket.write(Buffer.alloc(10_000_000));
  await open();
  expect(first.connection?.socket.destroyed).toBe(false);
  expect(second.connection?.socket.destroyed).toBe(true);
});

test('connections whose clients do not read are closed when too many bytes are unsent', async () => {
  const {open} = await start();
  const [first, second] = [await open(), await open()];
  for (const {client, connection} of [first, second]) {
    client.pause();
    connection?.markBusy();
    connection?.socket.write(Buffer.alloc(40_000_000));
    connection?.markIdle();
  }
  expect(first.connection?.socket.destroyed).toBe(true);
  expect(second.connection?.socket.destroyed).toBe(false);
});

test('a time limit ends with the next one and with the connection', async () => {
  const {open, clock} = await start();
  const {client, connection} = await open();
  const reached: string[] = [];
  connection?.setLimit(10, () => reached.push('first'));
  connection?.setLimit(20, () => reached.push('second'));
  await clock.advance(20);
  expect(reached).toEqual(['second']);
  connection?.setLimit(10, () => reached.push('third'));
  client.destroy();
  await until(() => connection?.socket.destroyed === true && clock.sleeping === 0);
  connection?.setLimit(10, () => reached.push('fourth'));
  await clock.advance(10);
  expect(reached).toEqual(['second']);
});
