import {createHash} from 'node:crypto';
import {Writable} from 'node:stream';
import {TLSSocket} from 'node:tls';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {DialOptions} from '../../../src/streaming/session/session.js';
import {openSpdySession} from '../../../src/streaming/spdy/spdy-session.js';
import {until} from '../../base/until.js';
import {CERTIFICATE, KEY} from '../../fakes/streaming/test-certificate.js';
import {
  FakeStreamingServer,
  type ServerStream,
  type StreamingServerOptions,
} from '../../fakes/streaming/fake-streaming-server.js';

const OUTPUTS = {stdin: false, stdout: true, stderr: true, tty: false};

async function open(options: StreamingServerOptions) {
  const server = await FakeStreamingServer.start(options);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const dial: DialOptions = {
    signal: new AbortController().signal,
    clock: systemClock,
    tls: {insecure: true},
    env: {},
  };
  const scheme = options.wrapSocket === undefined ? 'http' : 'https';
  const session = await openSpdySession(`${scheme}://127.0.0.1:${server.port}/exec/token`, OUTPUTS, dial);
  onTestFinished(() => {
    session.close();
  });
  return {session, server};
}

/** Delays each chunk before reading it. */
class SlowReader extends Writable {
  readonly hash = createHash('sha256');
  length = 0;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    setImmediate(() => {
      this.hash.update(chunk);
      this.length += chunk.length;
      done();
    });
  }
}

/** Reads nothing until released. */
class StalledReader extends SlowReader {
  #go: (() => void) | undefined;

  override _write(chunk: Buffer, encoding: BufferEncoding, done: () => void): void {
    this.#go = () => {
      this.#go = undefined;
      super._write(chunk, encoding, done);
    };
  }

  get isAsked(): boolean {
    return this.#go !== undefined;
  }

  letOne(): void {
    this.#go?.();
  }
}

/** Returns bytes without repeated parts. */
function pattern(length: number): Buffer {
  const words = new Uint32Array(length / 4);
  for (let index = 0, word = 1; index < words.length; index += 1) {
    word = (Math.imul(word, 1_664_525) + 1_013_904_223) >>> 0;
    words[index] = word;
  }
  return Buffer.from(words.buffer);
}

const DATA = pattern(16 * 1024 * 1024);
const hashOf = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

/** Sends data in frames of containerd's size. */
function send(stream: ServerStream, data: Buffer): void {
  for (let at = 0; at < data.length; at += 32 * 1024) stream.send(data.subarray(at, at + 32 * 1024));
}

describe('output piped from a session', () => {
  test.each([
    ['in frames as containerd sends them', 32 * 1024, undefined],
    ['in few large frames', 4 * 1024 * 1024, undefined],
    ['in chunks of odd sizes', 7919, undefined],
    ['through TLS', 32 * 1024, {isServer: true, cert: CERTIFICATE, key: KEY}],
  ])('arrives complete and in order at slow readers: %s', async (_, size, tls) => {
    const half = DATA.length / 2;
    const {session} = await open({
      ...(tls === undefined ? {} : {wrapSocket: (socket) => new TLSSocket(socket, tls)}),
      handleSession: (remote) => {
        for (let at = 0; at < half; at += size) {
          remote.stream('stdout').send(DATA.subarray(at, Math.min(at + size, half)));
          remote.stream('stderr').send(DATA.subarray(half + at, Math.min(half + at + size, DATA.length)));
        }
        remote.sendExitCode(0);
      },
    });
    const [stdout, stderr] = [new SlowReader(), new SlowReader()];
    await Promise.all([session.stdout?.pipeTo(stdout), session.stderr?.pipeTo(stderr)]);
    expect(stdout.hash.digest('hex')).toBe(hashOf(DATA.subarray(0, half)));
    expect(stderr.hash.digest('hex')).toBe(hashOf(DATA.subarray(half)));
  });

  test('follows output received before pipeTo', async () => {
    const {session} = await open({
      handleSession: async (remote) => {
        remote.stream('stdout').send(DATA.subarray(0, 1024 * 1024));
        await new Promise((resolve) => setTimeout(resolve, 50));
        send(remote.stream('stdout'), DATA.subarray(1024 * 1024));
        remote.sendExitCode(0);
      },
    });
    await until(() => (session.stdout?.readableLength ?? 0) > 0);
    const target = new SlowReader();
    await session.stdout?.pipeTo(target);
    expect(target.hash.digest('hex')).toBe(hashOf(DATA));
  });

  test('is not read from the connection while its reader is stalled', async () => {
    const {session, server} = await open({
      handleSession: (remote) => {
        send(remote.stream('stdout'), DATA);
        send(remote.stream('stdout'), DATA);
        remote.sendExitCode(0);
      },
    });
    const target = new StalledReader();
    const poured = session.stdout?.pipeTo(target);
    await until(() => target.isAsked);
    let unsent = -1;
    await until(() => {
      const before = unsent;
      unsent = server.sessions[0]!.unsentLength;
      return before === unsent;
    });
    // Retained buffers and system buffers.
    expect(target.writableLength).toBeLessThanOrEqual(8 * 128 * 1024);
    expect(unsent).toBeGreaterThan(DATA.length);
    const letting = setInterval(() => {
      target.letOne();
    }, 0);
    await poured;
    clearInterval(letting);
    expect(target.length).toBe(2 * DATA.length);
  });

  test('is dropped after the reader was destroyed, without affecting the other one', async () => {
    const {session} = await open({
      handleSession: (remote) => {
        send(remote.stream('stdout'), DATA);
        send(remote.stream('stderr'), DATA);
        remote.sendExitCode(3);
      },
    });
    const [destroyed, stderr] = [new SlowReader(), new SlowReader()];
    destroyed.destroy();
    await Promise.all([session.stdout?.pipeTo(destroyed), session.stderr?.pipeTo(stderr)]);
    expect(stderr.hash.digest('hex')).toBe(hashOf(DATA));
    expect(await session.result).toEqual({kind: 'exited', exitCode: 3});
  });
});
