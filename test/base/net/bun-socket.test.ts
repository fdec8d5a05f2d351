import {describe, expect, test} from 'vitest';
import type {Bun, BunConnectionHandlers} from '../../../src/base/bun.js';
import {BunSocket} from '../../../src/base/net/bun-socket.js';

/** A Bun whose connection takes `room` bytes until it is drained. */
class FakeBun {
  handlers: BunConnectionHandlers | undefined;
  room = Infinity;
  sent = '';
  readonly did: string[] = [];
  #reject: (error: Error) => void = () => undefined;

  readonly connection = {
    write: (bytes: Uint8Array): number => {
      const taken = Math.min(bytes.length, this.room);
      this.room -= taken;
      this.sent += Buffer.from(bytes.subarray(0, taken)).toString();
      this.did.push(`write ${bytes.length}`);
      return taken;
    },
    pause: () => void this.did.push('pause'),
    resume: () => void this.did.push('resume'),
    ref: () => void this.did.push('ref'),
    unref: () => void this.did.push('unref'),
    terminate: () => void this.did.push('terminate'),
  };

  readonly api: Bun = {
    file: () => {
      throw new Error('not used');
    },
    connect: async ({socket}) => {
      this.handlers = socket;
      return await new Promise((_, reject) => {
        this.#reject = reject;
      });
    },
  };

  open(): void {
    this.handlers!.open(this.connection);
  }

  refuse(error: Error): void {
    this.#reject(error);
  }

  drain(room: number): void {
    this.room = room;
    this.handlers!.drain(this.connection);
  }
}

function connect(onConnect: (socket: BunSocket) => void = () => undefined) {
  const bun = new FakeBun();
  const events: string[] = [];
  const socket: BunSocket = new BunSocket(bun.api, '/run/x.sock', {
    onConnect: () => {
      events.push('connect');
      onConnect(socket);
    },
    onRead: (chunk) => void events.push(`read ${chunk.toString()}`),
    onDrain: () => void events.push('drain'),
    onLost: (error) => void events.push(`lost ${error?.message ?? ''}`),
  });
  return {bun, events, socket};
}

const nextTurn = async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
};

describe('a socket of Bun', () => {
  test('sends what was written before it was open, at once', () => {
    const {bun, events, socket} = connect();
    socket.write(Buffer.from('ab'));
    socket.write(Buffer.from('cd'));
    expect([bun.sent, socket.hasUnsent]).toEqual(['', true]);
    bun.open();
    expect([bun.sent, bun.did, events]).toEqual(['abcd', ['write 4'], ['connect']]);
    expect(socket.hasUnsent).toBe(false);
  });

  test('keeps what the kernel does not take, in order, until there is room', () => {
    const {bun, socket} = connect();
    bun.open();
    bun.room = 3;
    socket.write(Buffer.from('abcd'));
    socket.write(Buffer.from('ef'));
    expect([bun.sent, bun.did]).toEqual(['abc', ['write 4']]);
    bun.drain(2);
    expect([bun.sent, socket.hasUnsent]).toEqual(['abcde', true]);
    bun.drain(Infinity);
    expect([bun.sent, socket.hasUnsent]).toEqual(['abcdef', false]);
  });

  test('is full from 64 KiB on, and reports once that it is not', async () => {
    const {bun, events, socket} = connect();
    bun.open();
    bun.room = 0;
    socket.write(Buffer.alloc(64 * 1024 - 1));
    expect(socket.needsDrain).toBe(false);
    socket.write(Buffer.alloc(1));
    expect(socket.needsDrain).toBe(true);
    bun.drain(10);
    await nextTurn();
    expect(events).toEqual(['connect']);
    bun.drain(Infinity);
    await nextTurn();
    expect([events, socket.needsDrain]).toEqual([['connect', 'drain'], false]);
    bun.drain(Infinity);
    await nextTurn();
    expect(events).toEqual(['connect', 'drain']);
  });

  test('sends what was collected with one write, and reports that it was full although the kernel took all', async () => {
    const {bun, events, socket} = connect();
    bun.open();
    socket.cork();
    for (let count = 0; !socket.needsDrain; count++) socket.write(Buffer.alloc(16 * 1024));
    expect(bun.did).toEqual([]);
    socket.uncork();
    expect(bun.did).toEqual([`write ${64 * 1024}`]);
    await nextTurn();
    expect(events).toEqual(['connect', 'drain']);
  });

  test('is closed as soon as it opens if it was destroyed before', () => {
    const {bun, events, socket} = connect();
    socket.write(Buffer.from('ab'));
    socket.destroy();
    bun.open();
    bun.handlers!.data(bun.connection, Buffer.from('x'));
    bun.handlers!.close(bun.connection);
    expect([bun.sent, bun.did, events]).toEqual(['', ['terminate'], []]);
  });

  test('sends and reports nothing if it is destroyed while it opens', async () => {
    const {bun, events, socket} = connect((connected) => {
      connected.destroy();
    });
    socket.write(Buffer.alloc(64 * 1024));
    bun.open();
    await nextTurn();
    expect([bun.sent, bun.did, events]).toEqual(['', ['terminate'], ['connect']]);
  });

  test('keeps the process alive only as asked, also before it is open', () => {
    const {bun, socket} = connect();
    socket.unref();
    bun.open();
    socket.ref();
    expect(bun.did).toEqual(['unref', 'ref']);
  });

  test('reports data, the end of the peer, errors, and a refused connection', async () => {
    const opened = connect();
    opened.bun.open();
    const {handlers, connection} = opened.bun;
    handlers!.data(connection, Buffer.from('x'));
    handlers!.end(connection);
    handlers!.error(connection, new Error('EPIPE'));
    handlers!.close(connection, new Error('ECONNRESET'));
    expect(opened.events).toEqual(['connect', 'read x', 'lost ', 'lost EPIPE', 'lost ECONNRESET']);
    const refused = connect();
    refused.bun.refuse(new Error('ECONNREFUSED'));
    await nextTurn();
    expect(refused.events).toEqual(['lost ECONNREFUSED']);
  });
});
