import {text} from 'node:stream/consumers';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {RemoteSession, SessionOptions, SessionRequest} from '../../../src/streaming/session/session.js';
import {openSpdySession} from '../../../src/streaming/spdy/spdy-session.js';
import {until} from '../../base/until.js';
import {
  control,
  FakeStreamingServer,
  frameHeader,
  type ServerSession,
  type StreamingServerOptions,
} from '../../fakes/streaming/fake-streaming-server.js';
import {FakeClock} from '../../fakes/fake-clock.js';

const ALL: SessionRequest = {stdin: true, stdout: true, stderr: true, tty: false};
const DIAL: SessionOptions = {signal: new AbortController().signal, clock: systemClock, tls: {}, env: {}};

async function open(
  options: StreamingServerOptions,
  request: SessionRequest = ALL,
  dial: Partial<SessionOptions> = {},
): Promise<{session: RemoteSession; server: FakeStreamingServer}> {
  const server = await FakeStreamingServer.start(options);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const session = await openSpdySession(`${server.url}/exec/token`, request, {...DIAL, ...dial});
  onTestFinished(() => {
    session.close();
  });
  return {session, server};
}

describe('a session over SPDY', () => {
  test('requests the protocol with exit codes', async () => {
    const {server} = await open({});
    expect(server.sessions[0]?.request).toMatch(/^POST \/exec\/token HTTP\/1.1/);
    expect(server.sessions[0]?.request).toMatch(/upgrade: SPDY\/3.1/i);
    expect(server.sessions[0]?.request).toMatch(/x-stream-protocol-version: v4.channel.k8s.io/i);
  });

  test.each([
    [ALL, ['error', 'stdin', 'stdout', 'stderr']],
    [{...ALL, stdin: false}, ['error', 'stdout', 'stderr']],
    [{...ALL, tty: true}, ['error', 'stdin', 'stdout', 'resize']],
  ])('opens exactly the requested streams: %o', async (request, types) => {
    const {server} = await open({}, request);
    await until(() => server.sessions[0]?.streams.size === types.length);
    expect([...(server.sessions[0]?.streams.keys() ?? [])]).toEqual(types);
  });

  test('separates the outputs, passes on input and its end, and returns the exit code', async () => {
    const {session} = await open({
      handleSession: async (server) => {
        const stdin = server.stream('stdin');
        await stdin.waitUntil((_text, {isEnded}) => isEnded);
        server.stream('stdout').send(`read ${stdin.received}`);
        server.stream('stderr').send('and complained');
        server.sendExitCode(7);
      },
    });
    session.stdin?.write('some ');
    session.stdin?.end('words');
    expect(await Promise.all([text(session.stdout!), text(session.stderr!)])).toEqual([
      'read some words',
      'and complained',
    ]);
    expect(await session.result).toEqual({kind: 'exited', exitCode: 7});
  });

  test('sends the size of the terminal', async () => {
    const {session, server} = await open({}, {...ALL, tty: true});
    session.resize({columns: 80, rows: 24});
    await until(() => server.sessions[0]?.streams.get('resize')?.received === '{"Width":80,"Height":24}');
  });

  test('replies to pings', async () => {
    const {server} = await open({});
    await until(() => server.sessions[0] !== undefined);
    server.sessions[0]?.ping(2);
    await until(() => server.sessions[0]?.pongs[0] === 2);
  });

  test('returns the message of a failure', async () => {
    const {session} = await open({
      handleSession: (server) => {
        server.sendStatus({status: 'Failure', reason: 'InternalError', message: 'no such program'});
      },
    });
    expect(await session.result).toEqual({kind: 'failed', message: 'no such program'});
  });

  test.each<[string, StreamingServerOptions['handleSession'], RegExp]>([
    [
      'the connection is reset',
      (server) => {
        server.crash();
      },
      /was lost before.*: the connection.*failed: /,
    ],
    [
      'the connection ends',
      (server) => {
        server.end();
      },
      /was lost before the result of the command$/,
    ],
    [
      'the connection ends within a frame',
      (server) => {
        server.sendRaw(frameHeader(5, 0, 100));
        server.end();
      },
      /was lost.*ended inside a frame$/,
    ],
    [
      'the server does not speak SPDY',
      (server) => {
        server.sendRaw(Buffer.from([0x80, 0x54, 0x54, 0x50, 0x2f, 0x31, 0x2e, 0x31]));
      },
      /was lost.*does not speak SPDY\/3.1$/,
    ],
    [
      'a control frame is truncated',
      (server) => {
        server.sendRaw(control(3, Buffer.alloc(1)));
      },
      /was lost.*a truncated control frame$/,
    ],
    [
      'the error stream is reset',
      (server) => {
        server.stream('error').reset();
      },
      /was lost before the result of the command$/,
    ],
  ])('is an error when %s, after the output was read', async (_case, end, message) => {
    const {session} = await open({
      handleSession: async (server) => {
        server.stream('stdout').send('the beginning');
        await server.stream('stdin').waitUntil((read) => read === 'go on');
        await end?.(server);
      },
    });
    let output = '';
    let ended = false;
    session.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    session.stdout?.on('end', () => (ended = true));
    await until(() => output !== '');
    session.stdin?.write('go on');
    await expect(session.result).rejects.toThrow(message);
    session.close();
    await until(() => ended);
    expect(output).toBe('the beginning');
  });

  test('ignores streams that it has not opened', async () => {
    const {session} = await open({
      handleSession: (server) => {
        server.sendRaw(Buffer.concat([frameHeader(99, 0, 3), Buffer.from('abc'), frameHeader(99, 1, 0)]));
        server.sendRaw(control(2, Buffer.from([0, 0, 0, 99])));
        server.sendRaw(control(8, Buffer.alloc(12)));
        server.sendExitCode(0);
      },
    });
    expect(await session.result).toEqual({kind: 'exited', exitCode: 0});
  });

  describe('without a result after the end of its output', () => {
    const NO_RESULT = 'the output has ended, but the runtime returned no result of the command';
    /** Returns a session whose output has ended and that was sent much input; `reads` is whether the server reads more. */
    async function silent(remote: {readonly reads: boolean}) {
      const clock = new FakeClock();
      const play = async (server: ServerSession): Promise<void> => {
        await server.stream('stdin').waitUntil((read) => read.length > 100_000);
        if (!remote.reads) server.stopReading();
        server.stream('stdout').fin();
        server.stream('stderr').fin();
      };
      const {session, server} = await open({handleSession: play}, ALL, {clock});
      session.stdin?.write(Buffer.alloc(200_000));
      await Promise.all([text(session.stdout!), text(session.stderr!)]);
      let settled = false;
      const settle = (): void => void (settled = true);
      session.result.then(settle, settle);
      const pass = async (seconds: number): Promise<void> => {
        for (let passed = 0; passed < seconds && !settled; passed += 1) {
          await until(() => clock.sleeping > 0 || settled);
          await clock.advance(1000);
        }
      };
      return {session, server, pass, isSettled: () => settled};
    }

    test('fails while input is not read', async () => {
      const {session, pass} = await silent({reads: false});
      // More than the capacity of the system's buffers.
      for (let pieces = 0; pieces < 64; pieces += 1) session.stdin?.write(Buffer.alloc(1024 * 1024));
      await pass(10);
      await expect(session.result).rejects.toThrow(NO_RESULT);
    });

    test('fails after a longer time if the system has taken all input', async () => {
      const {session, pass, isSettled} = await silent({reads: false});
      session.stdin?.end();
      await until(() => session.stdin?.writableFinished === true);
      await pass(9);
      expect(isSettled()).toBe(false);
      await pass(3);
      await expect(session.result).rejects.toThrow(NO_RESULT);
    });

    test('waits while the producer of the input pauses', async () => {
      const {session, server, pass} = await silent({reads: true});
      await until(() => session.stdin?.writableLength === 0);
      await pass(60);
      server.sessions[0]?.sendExitCode(3);
      expect(await session.result).toEqual({kind: 'exited', exitCode: 3});
    });
  });

  describe('with a probe of its process', () => {
    /** Returns a session whose server gets stuck with unread input, and a probe that the test controls. */
    async function probed(input: Buffer) {
      const probe = {isFound: false, exitCode: undefined as number | undefined, asked: 0};
      let resolveFound = (): void => undefined;
      const {session, server} = await open({}, ALL, {
        probe: {
          find: () => new Promise<void>((resolve) => (resolveFound = resolve)),
          exitCode: () => {
            probe.asked += 1;
            return Promise.resolve(probe.exitCode);
          },
        },
      });
      session.stdin?.write(input);
      await until(() => server.sessions[0]?.streams.has('stderr') === true);
      const remote = server.sessions[0]!;
      const received = (): number => remote.stream('stdin').received.length;
      const endOutput = async (): Promise<void> => {
        remote.stream('stdout').send('all of it');
        remote.stream('stdout').fin();
        remote.stream('stderr').fin();
        expect(await Promise.all([text(session.stdout!), text(session.stderr!)])).toEqual(['all of it', '']);
      };
      return {
        session,
        remote,
        probe,
        received,
        endOutput,
        find: () => {
          resolveFound();
        },
      };
    }

    test('holds back input that could get stuck until the process is known', async () => {
      const {received, find} = await probed(Buffer.alloc(1_000_000));
      await until(() => received() >= 32 * 1024);
      await new Promise((resolve) => setImmediate(resolve));
      expect(received()).toBe(32 * 1024);
      find();
      await until(() => received() === 1_000_000);
    });

    test('returns the exit code of the process, although the runtime returns no result', async () => {
      const {session, probe, received, find, endOutput} = await probed(Buffer.alloc(100_000));
      await until(() => received() > 0);
      find();
      await until(() => received() === 100_000);
      await endOutput();
      await until(() => probe.asked > 1);
      probe.exitCode = 7;
      expect(await session.result).toEqual({kind: 'exited', exitCode: 7});
    });

    test('does not ask while nothing can be stuck', async () => {
      const {session, remote, probe, received, endOutput} = await probed(Buffer.alloc(30_000));
      probe.exitCode = 7;
      await until(() => received() === 30_000);
      await endOutput();
      remote.sendExitCode(3);
      expect(await session.result).toEqual({kind: 'exited', exitCode: 3});
      expect(probe.asked).toBe(0);
    });
  });

  test('waits if there was little input, since nothing can be stuck', async () => {
    const clock = new FakeClock();
    const {session, server} = await open(
      {
        handleSession: (remote) => {
          remote.stream('stdout').fin();
          remote.stream('stderr').fin();
        },
      },
      ALL,
      {clock},
    );
    session.stdin?.write('little');
    await Promise.all([text(session.stdout!), text(session.stderr!)]);
    for (let times = 0; times < 5; times += 1) {
      await until(() => clock.sleeping > 0);
      await clock.advance(2000);
    }
    server.sessions[0]?.sendExitCode(3);
    expect(await session.result).toEqual({kind: 'exited', exitCode: 3});
  });

  test('reads no more than its reader accepts, without loss', async () => {
    const total = 256;
    const chunk = Buffer.alloc(256 * 1024, 'x');
    const {session, server} = await open({
      handleSession: (remote) => {
        for (let sent = 0; sent < total; sent += 1) remote.stream('stdout').send(chunk);
        remote.sendExitCode(0);
      },
    });
    const [remote] = [() => server.sessions[0]!];
    await until(() => (session.stdout?.readableLength ?? 0) > 0);
    const before = remote().unsentLength;
    await new Promise((resolve) => setImmediate(resolve));
    // The system's buffers hold at most some megabytes.
    expect(before).toBeGreaterThan((total - 100) * chunk.length);
    expect(session.stdout?.readableLength).toBeLessThan(4 * 1024 * 1024);
    let length = 0;
    for await (const chunk of session.stdout as AsyncIterable<Buffer>) length += chunk.length;
    expect(length).toBe(total * chunk.length);
    expect(await session.result).toEqual({kind: 'exited', exitCode: 0});
  });

  test.each([
    [{errorResponse: {status: 404, body: 'page not found'}}, /refused the session: 404: page not found/],
    [{errorResponse: {status: 403, body: '\x1b[31mno'}}, /refused the session: 403: \[31mno/],
    [{protocol: 'v1.channel.k8s.io'}, /chose the protocol "v1.channel.k8s.io", which was not offered/],
  ])('is rejected: %o', async (options, message) => {
    await expect(open(options)).rejects.toThrow(message);
  });

  test('is not opened after an abort, and later only ended by close', async () => {
    const controller = new AbortController();
    const {session, server} = await open({}, ALL, {signal: controller.signal});
    controller.abort(new Error('enough'));
    session.stdin?.write('still here');
    await until(() => server.sessions[0]?.streams.get('stdin')?.received === 'still here');
    await expect(open({}, ALL, {signal: controller.signal})).rejects.toThrow('enough');
  });

  test('reports an unreachable address without the token', async () => {
    const opening = openSpdySession('http://127.0.0.1:1/exec/geheim', ALL, DIAL);
    await expect(opening).rejects.toThrow(/^cannot connect to 127.0.0.1:1: connect ECONNREFUSED/);
    await expect(opening).rejects.not.toThrow(/geheim/);
  });
});

test('data sent before the server closed the connection is read, although writes fail', async () => {
  const {session} = await open({
    handleSession: async (server) => {
      await server.stream('stdin').waitUntil((read) => read.length > 0);
      server.stream('stdout').send('the end');
      server.sendExitCode(6);
      server.hangUp();
    },
  });
  const over = new AbortController();
  const flood = Buffer.alloc(1024 * 1024);
  const feed = (): void => {
    if (!over.signal.aborted) session.stdin?.write(flood, () => setImmediate(feed));
  };
  feed();
  onTestFinished(() => {
    over.abort();
  });
  expect(await text(session.stdout!)).toBe('the end');
  expect(await session.result).toEqual({kind: 'exited', exitCode: 6});
});
