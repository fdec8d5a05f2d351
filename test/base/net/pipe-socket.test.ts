import {once} from 'node:events';
import {createServer, type Server, type Socket} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {NodeSocket} from '../../../src/base/net/node-socket.js';
import {PipeSocket} from '../../../src/base/net/pipe-socket.js';
import {getSocketBinding} from '../../../src/base/net/socket-binding.js';
import type {SocketHandlers, UnixSocket} from '../../../src/base/net/unix-socket.js';
import {temporaryDirectory} from '../temporary-directory.js';
import {until} from '../until.js';

/** The implementations, of which each must do what the other does. */
const KINDS = {
  'node:net': (path: string, handlers: SocketHandlers) => new NodeSocket(path, handlers),
  'the binding': (path: string, handlers: SocketHandlers) =>
    new PipeSocket(getSocketBinding()!, path, handlers),
};

/** Events of a socket in order; consecutive reads are one. */
class Events implements SocketHandlers {
  readonly names: string[] = [];
  readonly errors: unknown[] = [];
  text = '';
  reads = 0;

  onConnect(): void {
    this.names.push('connect');
  }

  onRead(chunk: Buffer): void {
    this.reads++;
    this.text += chunk.toString();
  }

  onDrain(): void {
    this.names.push('drain');
  }

  onLost(error?: Error): void {
    this.names.push('lost');
    if (error === undefined) return;
    // Node.js 24 adds the local address, which is undefined, to an error before the attempt.
    const message = error.message.replace(/ - Local .*/, '');
    this.errors.push(Object.assign({}, error, {message}));
  }
}

/** Starts a server, whose connections do not read until they are told to. */
async function aServer(): Promise<{path: string; server: Server; accepted: Promise<Socket>}> {
  const path = join(await temporaryDirectory(), 's');
  const server = createServer({pauseOnConnect: true}).listen(path);
  await once(server, 'listening');
  const peers: Socket[] = [];
  server.on('connection', (peer) => peers.push(peer.on('error', () => undefined)));
  onTestFinished(() => {
    for (const peer of peers) peer.destroy();
    server.close();
  });
  return {path, server, accepted: once(server, 'connection').then(([peer]) => peer as Socket)};
}

function open(kind: keyof typeof KINDS, path: string): {events: Events; socket: UnixSocket} {
  const events = new Events();
  const socket = KINDS[kind](path, events);
  onTestFinished(() => {
    socket.destroy();
  });
  return {events, socket};
}

/** Reads everything that a peer receives from now on. */
function received(peer: Socket): {readonly bytes: number; readonly text: string} {
  let text = '';
  peer.setEncoding('latin1').on('data', (chunk) => (text += String(chunk)));
  peer.resume();
  return {
    get bytes() {
      return text.length;
    },
    get text() {
      return text;
    },
  };
}

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('a socket of %s', (kind) => {
  test('sends what was written before and after it was open, and reads', async () => {
    const {path, accepted} = await aServer();
    const {events, socket} = open(kind, path);
    socket.write(Buffer.from('ab'));
    const peer = await accepted;
    const got = received(peer);
    socket.cork();
    socket.write(Buffer.from('c'));
    socket.write(Buffer.from('d'));
    socket.uncork();
    await until(() => got.text === 'abcd');
    expect(socket.hasUnsent).toBe(false);
    peer.write('x'.repeat(200_000));
    await until(() => events.text.length === 200_000);
    expect(events.names).toEqual(['connect']);
    // Reads into a buffer that is reused, so that a read is at most its size.
    expect(events.reads).toBeGreaterThan(2);
  });

  test('is full while the peer does not read, reports once that it is not, and loses nothing', async () => {
    const {path, accepted} = await aServer();
    const {events, socket} = open(kind, path);
    const peer = await accepted;
    await until(() => events.names.length > 0);
    let written = 0;
    for (; !socket.needsDrain || written < 2_000_000; written += 50_000)
      socket.write(Buffer.alloc(50_000, 'a'));
    expect([socket.needsDrain, socket.hasUnsent, events.names]).toEqual([true, true, ['connect']]);
    const got = received(peer);
    await until(() => got.bytes === written);
    await until(() => events.names.includes('drain'));
    expect([socket.needsDrain, socket.hasUnsent, events.names]).toEqual([false, false, ['connect', 'drain']]);
  });

  test('leaves what arrives in the kernel while it does not read', async () => {
    const {path, accepted} = await aServer();
    const {events, socket} = open(kind, path);
    const peer = await accepted;
    await until(() => events.names.length > 0);
    socket.stopReading();
    const before = events.text;
    peer.write('y'.repeat(5_000_000));
    await until(() => peer.writableNeedDrain);
    expect(events.text).toBe(before);
    socket.resumeReading();
    await until(() => events.text.length === 5_000_000);
  });

  test('reports the end of the peer without an error', async () => {
    const {path, accepted} = await aServer();
    const {events} = open(kind, path);
    (await accepted).end('bye');
    await until(() => events.names.includes('lost'));
    expect([events.text, events.errors]).toEqual(['bye', []]);
  });

  test('calls nothing but onLost after it was destroyed within a read', async () => {
    const {path, accepted} = await aServer();
    const events = new Events();
    const socket = KINDS[kind](path, {
      onConnect: () => undefined,
      onDrain: () => undefined,
      onLost: () => undefined,
      onRead: (chunk) => {
        events.onRead(chunk);
        socket.destroy();
        socket.write(Buffer.from('late'));
        socket.stopReading();
        socket.resumeReading();
        socket.ref();
        socket.destroy();
      },
    });
    const peer = await accepted;
    const got = received(peer);
    peer.write('1');
    await once(peer, 'close');
    expect([events.text, got.text]).toEqual(['1', '']);
  });

  test('is closed if it is destroyed before it is open', async () => {
    const {path, accepted} = await aServer();
    const {events, socket} = open(kind, path);
    socket.write(Buffer.from('x'));
    socket.destroy();
    const peer = await accepted;
    const got = received(peer);
    await once(peer, 'close');
    expect([got.text, events.names.filter((name) => name !== 'lost')]).toEqual(['', []]);
  });
});

describe('errors are those of node:net', () => {
  async function errorsOf(use: (kind: keyof typeof KINDS) => Promise<unknown>): Promise<void> {
    expect(await use('the binding')).toEqual(await use('node:net'));
  }

  test.each([
    ['no socket', (folder: string) => join(folder, 'missing')],
    ['a directory', (folder: string) => folder],
  ])('%s', async (_, pathIn) => {
    const path = pathIn(await temporaryDirectory());
    await errorsOf(async (kind) => {
      const {events} = open(kind, path);
      expect(events.names).toEqual([]);
      await until(() => events.names.length > 0);
      expect(events.errors).toHaveLength(1);
      return events.errors;
    });
  });

  test('a path that is too long does not lead to the socket at its beginning', async () => {
    const path = join(await temporaryDirectory(), 'x'.repeat(108)).slice(0, 108);
    const server = createServer().listen(path.slice(0, 107));
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const {events} = open('the binding', path);
    await until(() => events.names.length > 0);
    expect([events.names, events.errors]).toEqual([['lost'], [expect.objectContaining({code: 'EINVAL'})]]);
  });

  test('a write to a peer that is gone', async () => {
    await errorsOf(async (kind) => {
      const {path, accepted} = await aServer();
      const {events, socket} = open(kind, path);
      const peer = await accepted;
      await until(() => events.names.length > 0);
      socket.stopReading();
      peer.destroy();
      await once(peer, 'close');
      socket.write(Buffer.from('x'));
      await until(() => events.errors.length > 0);
      return events.errors;
    });
  });
});

describe('the binding is not used', () => {
  test.each([
    [
      'in a version that it was not tested with',
      () => vi.spyOn(process, 'version', 'get').mockReturnValue('v99.0.0'),
    ],
    ['if the user asked for warnings', () => vi.stubEnv('NODE_PENDING_DEPRECATION', '1')],
    ['if an option asks for warnings', () => vi.stubEnv('NODE_OPTIONS', '--pending-deprecation')],
    [
      'if Node.js refuses it',
      () =>
        vi.spyOn(process as unknown as {binding(): unknown}, 'binding').mockImplementation(() => {
          throw new Error('Access to this API has been restricted');
        }),
    ],
  ])('%s', (_, arrange) => {
    arrange();
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
    });
    expect(getSocketBinding()).toBeUndefined();
  });
});
