import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import {Duplex} from 'node:stream';
import {describe, expect, onTestFinished, test} from 'vitest';
import {passBytes} from '../../../src/recording/tap/pass-bytes.js';
import {ReadState} from '../../../src/streaming/socket/read-state.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';

/** Returns the two ends of a connection, each of which may end without the other. */
async function aConnection(): Promise<{readonly accepted: Socket; readonly peer: Socket}> {
  const server = createServer({allowHalfOpen: true}).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  const peer = connect({port, host: '127.0.0.1', allowHalfOpen: true});
  const [accepted] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    accepted.destroy();
    peer.destroy();
  });
  return {accepted, peer};
}

/** Passes bytes between a client, which sends, and a runtime that takes nothing. */
async function aStalledRelay() {
  const {accepted: client, peer} = await aConnection();
  const runtime = new Duplex({highWaterMark: 1, read: () => undefined, write: () => undefined});
  const clock = new FakeClock();
  const options = (to: Duplex) => ({
    write: (chunk: Buffer) => to.write(chunk),
    onEnd: () => undefined,
    onClose: () => undefined,
    clock,
  });
  passBytes(client, runtime, options(runtime));
  passBytes(runtime, client, options(client));
  peer.write(Buffer.alloc(1e6));
  await until(() => client.isPaused());
  return {client, peer, runtime, clock};
}

test('a client that waits for the runtime is closed when the runtime has closed', async () => {
  const {client, peer, runtime} = await aStalledRelay();
  peer.resume();
  peer.once('end', () => peer.end());
  runtime.destroy();
  await once(client, 'close');
});

test('a client that does not close its side is closed after a time', async () => {
  const {client, peer, runtime, clock} = await aStalledRelay();
  peer.resume();
  runtime.destroy();
  await once(peer, 'end');
  await until(() => clock.sleeping > 0);
  expect(client.destroyed).toBe(false);
  await clock.advance(5000);
  await once(client, 'close');
});

/** Passes bytes from a peer to a target that completes each write at once or when it is released, by a socket that reuses its memory. */
async function aReusingRelay({isImmediate = false} = {}) {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  const reads = new ReadState();
  const source = connect({port, host: '127.0.0.1', onread: reads.onread});
  const [peer] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    source.destroy();
    peer.destroy();
  });
  const written: Buffer[] = [];
  const waiting: (() => void)[] = [];
  const target = new Duplex({
    highWaterMark: 8,
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk);
      if (isImmediate) done();
      else waiting.push(done);
    },
  });
  const passed: Buffer[] = [];
  passBytes(source, target, {
    reads,
    write: (chunk) => {
      passed.push(chunk);
      return target.write(chunk);
    },
    onEnd: () => undefined,
    onClose: () => undefined,
    clock: new FakeClock(),
  });
  const send = async (text: string): Promise<void> => {
    const {length} = passed;
    peer.write(text);
    await until(() => passed.length > length);
  };
  const release = (): void => {
    for (let done = waiting.shift(); done !== undefined; done = waiting.shift()) done();
  };
  const roundTrip = async (): Promise<void> => {
    const other = connect({port, host: '127.0.0.1'});
    const [accepted] = (await once(server, 'connection')) as [Socket];
    accepted.end('hello');
    await once(other, 'data');
    other.destroy();
  };
  return {peer, target, reads, passed, written, send, release, roundTrip};
}

describe('a source that reuses its memory', () => {
  test('does not change what the target has not written', async () => {
    const {send, release, target, written} = await aReusingRelay();
    for (const text of ['one', 'two', 'six']) await send(text);
    release();
    await until(() => target.writableLength === 0);
    expect(written.map(String)).toEqual(['one', 'two', 'six']);
  });

  test('reads into the same memory when the target has written all', async () => {
    const {send, passed} = await aReusingRelay({isImmediate: true});
    for (const text of ['one', 'two']) await send(text);
    expect(passed[1]?.buffer === passed[0]?.buffer).toBe(true);
  });

  test('holds no further memory for what waits behind another chunk', async () => {
    const {send, reads} = await aReusingRelay();
    await send('one');
    const {memory} = reads;
    await send('two');
    await send('six');
    expect(reads.memory === memory).toBe(true);
  });

  test('waits until the target drains', async () => {
    const {send, release, peer, passed, roundTrip} = await aReusingRelay();
    await send('a chunk that is too long');
    peer.write('more');
    // Another connection is read after what has come on this one.
    await roundTrip();
    expect(passed).toHaveLength(1);
    release();
    await until(() => passed.length === 2);
  });
});
