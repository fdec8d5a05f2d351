import {once} from 'node:events';
import {createServer, type AddressInfo, type Socket} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import {getSocketBinding} from '../../../src/base/net/socket-binding.js';
import {BufferReusingSocket} from '../../../src/streaming/socket/buffer-reusing-socket.js';
import type {ReusingSocket} from '../../../src/streaming/socket/read-state.js';
import {connectTcp, type TcpTarget} from '../../../src/streaming/socket/tcp-socket.js';
import {until} from '../../base/until.js';

/** The implementations, of which each must do what the other does. */
const KINDS = {
  'node:net': async (target: TcpTarget, signal: AbortSignal): Promise<ReusingSocket> => {
    const socket = new BufferReusingSocket();
    socket.connect(target);
    await once(socket, 'connect', {signal});
    return socket;
  },
  'the binding': (target: TcpTarget, signal: AbortSignal): Promise<ReusingSocket> =>
    connectTcp(getSocketBinding()!, target, signal),
};
type Kind = keyof typeof KINDS;

const NEVER = new AbortController().signal;

/** Starts a server, whose connections do not read until they are told to. */
async function aServer(host = '127.0.0.1'): Promise<{target: TcpTarget; accepted: Promise<Socket>}> {
  const server = createServer({pauseOnConnect: true}).listen(0, host);
  await once(server, 'listening');
  const accepted = once(server, 'connection').then(([peer]) => (peer as Socket).on('error', () => undefined));
  onTestFinished(async () => {
    server.close();
    (await accepted).destroy();
  });
  return {target: {host, port: (server.address() as AddressInfo).port}, accepted};
}

/** A connected socket, its peer, and what has happened to it. */
async function connected(kind: Kind, host?: string) {
  const {target, accepted} = await aServer(host);
  const socket = await KINDS[kind](target, NEVER);
  onTestFinished(() => void socket.destroy());
  const events: string[] = [];
  const errors: object[] = [];
  for (const event of ['end', 'finish', 'close']) socket.on(event, () => events.push(event));
  socket.on('error', (error) => errors.push(Object.assign({}, error, {message: error.message})));
  return {socket, peer: await accepted, events, errors};
}

/** Collects what the peer receives from now on. */
function received(peer: Socket): {readonly text: string} {
  const chunks: Buffer[] = [];
  peer.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
  return {
    get text() {
      return Buffer.concat(chunks).toString();
    },
  };
}

const OBSERVER = {full: () => undefined, free: () => undefined};

describe.each(Object.keys(KINDS) as Kind[])('a TCP socket of %s', (kind) => {
  test.each(['127.0.0.1', '::1'])('sends and receives at %s', async (host) => {
    const {socket, peer} = await connected(kind, host);
    const got = received(peer);
    socket.cork();
    socket.write('a');
    socket.write(Buffer.from('b'));
    socket.uncork();
    const sent = new Promise<void>((resolve) =>
      socket.write('c', () => {
        resolve();
      }),
    );
    await sent;
    await until(() => got.text === 'abc');
    peer.write('answer');
    expect(String((await once(socket.resume(), 'data'))[0])).toBe('answer');
  });

  test('keeps what came before it was taken over, then reuses its memory unless that is retained', async () => {
    const {socket, peer} = await connected(kind);
    peer.write('head first');
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    socket.unshift(bytes.subarray(5));
    let text = '';
    const memories = new Set<ArrayBufferLike>();
    socket.takeOver(OBSERVER, (chunk) => {
      text += chunk.toString();
      if (text.length > 5) memories.add(chunk.buffer);
    });
    expect(text).toBe('first');
    peer.write('x'.repeat(2_000_000));
    await until(() => text.length === 2_000_005);
    expect(memories.size).toBe(1);
    const retained: Buffer[] = [];
    socket.removeAllListeners('data');
    socket.takeOver(OBSERVER, (chunk, retain) => {
      retain();
      retained.push(chunk);
    });
    peer.write('one');
    await until(() => retained.length === 1);
    peer.write('two');
    await until(() => retained.length === 2);
    expect(retained.map(String)).toEqual(['one', 'two']);
  });

  test('leaves in the kernel what nobody reads', async () => {
    const {socket, peer} = await connected(kind);
    let length = 0;
    socket.takeOver(OBSERVER, (chunk) => {
      length += chunk.length;
    });
    socket.pause();
    const before = length;
    peer.write('y'.repeat(20_000_000));
    await until(() => peer.writableNeedDrain);
    await new Promise((resolve) => setImmediate(resolve));
    expect(length).toBe(before);
    socket.resume();
    await until(() => length === 20_000_000);
  });

  test('reads no more than the stream holds before it is taken over', async () => {
    const {socket, peer} = await connected(kind);
    peer.write('z'.repeat(20_000_000));
    socket.read(0);
    await until(() => peer.writableNeedDrain && socket.readableLength > 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(socket.readableLength).toBeLessThan(500_000);
    let length = 0;
    socket.on('data', (chunk: Buffer) => (length += chunk.length));
    await until(() => length === 20_000_000);
  });

  test('waits while the peer does not read, and loses nothing', async () => {
    const {socket, peer} = await connected(kind);
    let done = 0;
    for (let pieces = 0; pieces < 20; pieces += 1)
      socket.write(Buffer.alloc(1_000_000, 'q'), () => (done += 1));
    expect(socket.writableNeedDrain).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBeLessThan(20);
    const got = received(peer);
    await once(socket, 'drain');
    await until(() => got.text.length === 20_000_000);
    expect(done).toBe(20);
  });

  test('ends when the peer does, after what was sent', async () => {
    const {socket, peer, events, errors} = await connected(kind);
    const got = received(peer);
    socket.write('last');
    peer.end('bye');
    const chunks: string[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    await until(() => events.includes('close'));
    await until(() => got.text === 'last');
    expect([chunks, events, errors]).toEqual([['bye'], ['end', 'finish', 'close'], []]);
  });

  test('ends its own half only', async () => {
    const {socket, peer} = await connected(kind);
    const ended = once(peer, 'end');
    peer.allowHalfOpen = true;
    const got = received(peer);
    socket.end('over');
    await ended;
    expect(got.text).toBe('over');
    peer.end('still read');
    expect(String((await once(socket, 'data'))[0])).toBe('still read');
  });

  test('reads on after a failed write, and drops what follows', async () => {
    const {socket, peer, errors} = await connected(kind);
    peer.write('the end');
    await until(() => peer.writableLength === 0);
    peer.destroy();
    await once(peer, 'close');
    await expect
      .poll(
        () =>
          new Promise((resolve) =>
            socket.write(Buffer.alloc(100_000), () => {
              resolve(true);
            }),
          ),
      )
      .toBe(true);
    for (let times = 0; times < 5; times += 1)
      await new Promise<void>((resolve) =>
        socket.write('more', () => {
          resolve();
        }),
      );
    expect(String((await once(socket, 'data'))[0])).toBe('the end');
    expect(errors.every((error) => (error as {syscall?: string}).syscall === 'read')).toBe(true);
  });

  test('does nothing after it was destroyed within a read', async () => {
    const {socket, peer, events, errors} = await connected(kind);
    let reads = 0;
    socket.takeOver(OBSERVER, () => {
      reads += 1;
      socket.destroy();
      socket.pause();
      socket.resume();
      socket.setNoDelay(true);
    });
    peer.write('1');
    await once(peer.resume(), 'close');
    expect([reads, events, errors]).toEqual([1, ['close'], []]);
  });
});

describe('errors are those of node:net', () => {
  async function bothGive(use: (kind: Kind) => Promise<unknown>): Promise<unknown> {
    const own = await use('the binding');
    expect(own).toEqual(await use('node:net'));
    return own;
  }
  /** Properties of a rejection. */
  async function failure(work: Promise<unknown>): Promise<object> {
    const error = (await work.then(
      () => undefined,
      (reason: unknown) => reason,
    )) as Error;
    return Object.assign({}, error, {message: error.message.replace(/ - Local .*/, '')});
  }

  test.each(['127.0.0.1', '::1'])('a closed port at %s', async (host) => {
    const found = await bothGive((kind) => failure(KINDS[kind]({host, port: 1}, NEVER)));
    expect(found).toMatchObject({code: 'ECONNREFUSED', message: `connect ECONNREFUSED ${host}:1`});
  });

  test('a connection that is reset', async () => {
    const errors = await bothGive(async (kind) => {
      const {socket, peer, errors, events} = await connected(kind);
      socket.takeOver(OBSERVER, () => undefined);
      peer.resetAndDestroy();
      await until(() => events.includes('close'));
      return [errors, events];
    });
    expect(errors).toEqual([[expect.objectContaining({message: 'read ECONNRESET'})], ['close']]);
  });

  test('an abort before and while it connects', async () => {
    const controller = new AbortController();
    // Packets to this network are dropped (RFC 5737); without a route, that is the error.
    const opening = connectTcp(getSocketBinding()!, {host: '192.0.2.1', port: 9}, controller.signal);
    controller.abort(new Error('enough'));
    await expect(opening).rejects.toThrow(/enough|connect E\w+/);
    await expect(
      connectTcp(getSocketBinding()!, {host: '192.0.2.1', port: 9}, controller.signal),
    ).rejects.toThrow('enough');
  });
});
