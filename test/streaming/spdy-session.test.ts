import {text} from 'node:stream/consumers';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/base/clock.js';
import type {DialOptions, RemoteSession, SessionRequest} from '../../src/streaming/session.js';
import {openSpdySession} from '../../src/streaming/spdy/session.js';
import {until} from '../base/until.js';
import {
  control,
  FakeStreamingServer,
  frameHeader,
  type ServerSession,
  type StreamingServerOptions,
} from '../fakes/streaming/spdy-server.js';
import {ManualClock} from './manual-clock.js';

const ALL: SessionRequest = {stdin: true, stdout: true, stderr: true, tty: false};
const DIAL: DialOptions = {signal: new AbortController().signal, clock: systemClock, tls: {}, env: {}};

async function open(
  options: StreamingServerOptions,
  request: SessionRequest = ALL,
  dial: Partial<DialOptions> = {},
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
  test('asks for the protocol that tells exit codes', async () => {
    const {server} = await open({});
    expect(server.sessions[0]?.request).toMatch(/^POST \/exec\/token HTTP\/1.1/);
    expect(server.sessions[0]?.request).toMatch(/upgrade: SPDY\/3.1/i);
    expect(server.sessions[0]?.request).toMatch(/x-stream-protocol-version: v4.channel.k8s.io/i);
  });

  test.each([
    [ALL, ['error', 'stdin', 'stdout', 'stderr']],
    [{...ALL, stdin: false}, ['error', 'stdout', 'stderr']],
    [{...ALL, tty: true}, ['error', 'stdin', 'stdout', 'resize']],
  ])('opens exactly the streams that were asked for: %o', async (request, types) => {
    const {server} = await open({}, request);
    await until(() => server.sessions[0]?.streams.size === types.length);
    expect([...(server.sessions[0]?.streams.keys() ?? [])]).toEqual(types);
  });

  test('keeps the outputs apart, passes on input and its end, and gives the exit code', async () => {
    const {session} = await open({
      play: async (server) => {
        const stdin = server.stream('stdin');
        await stdin.until((_text, {isEnded}) => isEnded);
        server.stream('stdout').send(`read ${stdin.received}`);
        server.stream('stderr').send('and complained');
        server.exit(7);
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

  test('tells the size of the terminal', async () => {
    const {session, server} = await open({}, {...ALL, tty: true});
    session.resize({columns: 80, rows: 24});
    await until(() => server.sessions[0]?.streams.get('resize')?.received === '{"Width":80,"Height":24}');
  });

  test('answers pings', async () => {
    const {server} = await open({});
    await until(() => server.sessions[0] !== undefined);
    server.sessions[0]?.ping(2);
    await until(() => server.sessions[0]?.pongs[0] === 2);
  });

  test('gives the text of a failure', async () => {
    const {session} = await open({
      play: (server) => {
        server.verdict({status: 'Failure', reason: 'InternalError', message: 'no such program'});
      },
    });
    expect(await session.result).toEqual({kind: 'failed', message: 'no such program'});
  });

  test.each<[string, StreamingServerOptions['play'], RegExp]>([
    [
      'the connection is reset',
      (server) => {
        server.crash();
      },
      /was lost before.*: the connection.*broke: /,
    ],
    [
      'the connection ends',
      (server) => {
        server.end();
      },
      /was lost before it said how the command ended$/,
    ],
    [
      'the connection ends within a frame',
      (server) => {
        server.sendRaw(frameHeader(5, 0, 100));
        server.end();
      },
      /was lost.*ended in the middle$/,
    ],
    [
      'the server talks of something else',
      (server) => {
        server.sendRaw(Buffer.from([0x80, 0x54, 0x54, 0x50, 0x2f, 0x31, 0x2e, 0x31]));
      },
      /was lost.*something that is not SPDY\/3.1$/,
    ],
    [
      'a control frame is too short',
      (server) => {
        server.sendRaw(control(3, Buffer.alloc(1)));
      },
      /was lost.*a control frame that is too short$/,
    ],
    [
      'the error stream is given up',
      (server) => {
        server.stream('error').reset();
      },
      /was lost before it said how the command ended$/,
    ],
  ])('is an error when %s, after what was there to read', async (_what, end, message) => {
    const {session} = await open({
      play: async (server) => {
        server.stream('stdout').send('the beginning');
        await server.stream('stdin').until((read) => read === 'go on');
        await end?.(server);
      },
    });
    let output = '';
    let ended = false;
    session.stdout?.on('data', (piece: Buffer) => (output += piece.toString()));
    session.stdout?.on('end', () => (ended = true));
    await until(() => output !== '');
    session.stdin?.write('go on');
    await expect(session.result).rejects.toThrow(message);
    session.close();
    await until(() => ended);
    expect(output).toBe('the beginning');
  });

  test('takes no notice of streams that it has not opened', async () => {
    const {session} = await open({
      play: (server) => {
        server.sendRaw(Buffer.concat([frameHeader(99, 0, 3), Buffer.from('abc'), frameHeader(99, 1, 0)]));
        server.sendRaw(control(2, Buffer.from([0, 0, 0, 99])));
        server.sendRaw(control(8, Buffer.alloc(12)));
        server.exit(0);
      },
    });
    expect(await session.result).toEqual({kind: 'exited', exitCode: 0});
  });

  describe('that tells nothing after the end of its output', () => {
    const SAYS_NOTHING = 'the output has ended, but the runtime does not say how the command did';
    /** A session whose output has ended, and that has taken much input; whether it takes more is said. */
    async function silent(remote: {readonly reads: boolean}) {
      const clock = new ManualClock();
      const play = async (server: ServerSession): Promise<void> => {
        await server.stream('stdin').until((read) => read.length > 100_000);
        if (!remote.reads) server.standStill();
        server.stream('stdout').fin();
        server.stream('stderr').fin();
      };
      const {session, server} = await open({play}, ALL, {clock});
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

    test('is given up while input is on its way that nobody takes', async () => {
      const {session, pass} = await silent({reads: false});
      // More than the system's buffers take.
      for (let pieces = 0; pieces < 64; pieces += 1) session.stdin?.write(Buffer.alloc(1024 * 1024));
      await pass(10);
      await expect(session.result).rejects.toThrow(SAYS_NOTHING);
    });

    test('is given up late when the system has taken all of the input', async () => {
      const {session, pass, isSettled} = await silent({reads: false});
      session.stdin?.end();
      await until(() => session.stdin?.writableFinished === true);
      await pass(9);
      expect(isSettled()).toBe(false);
      await pass(3);
      await expect(session.result).rejects.toThrow(SAYS_NOTHING);
    });

    test('is waited for while it is the producer of the input that pauses', async () => {
      const {session, server, pass} = await silent({reads: true});
      await until(() => session.stdin?.writableLength === 0);
      await pass(60);
      server.sessions[0]?.exit(3);
      expect(await session.result).toEqual({kind: 'exited', exitCode: 3});
    });
  });

  test('waits on when little was put in: nothing can be stuck', async () => {
    const clock = new ManualClock();
    const {session, server} = await open(
      {
        play: (remote) => {
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
    server.sessions[0]?.exit(3);
    expect(await session.result).toEqual({kind: 'exited', exitCode: 3});
  });

  test('reads no more than its reader takes, and loses nothing', async () => {
    const total = 256;
    const piece = Buffer.alloc(256 * 1024, 'x');
    const {session, server} = await open({
      play: (remote) => {
        for (let sent = 0; sent < total; sent += 1) remote.stream('stdout').send(piece);
        remote.exit(0);
      },
    });
    const [remote] = [() => server.sessions[0]!];
    await until(() => (session.stdout?.readableLength ?? 0) > 0);
    const before = remote().unsentLength;
    await new Promise((resolve) => setImmediate(resolve));
    // What is on its way in the system's buffers is some megabytes at most.
    expect(before).toBeGreaterThan((total - 100) * piece.length);
    expect(session.stdout?.readableLength).toBeLessThan(4 * 1024 * 1024);
    let length = 0;
    for await (const chunk of session.stdout as AsyncIterable<Buffer>) length += chunk.length;
    expect(length).toBe(total * piece.length);
    expect(await session.result).toEqual({kind: 'exited', exitCode: 0});
  });

  test.each([
    [{refusal: {status: 404, body: 'page not found'}}, /refused the session: 404: page not found/],
    [{refusal: {status: 403, body: '\x1b[31mno'}}, /refused the session: 403: \[31mno/],
    [{protocol: 'v1.channel.k8s.io'}, /chose the protocol "v1.channel.k8s.io", which was not offered/],
  ])('is refused: %o', async (options, message) => {
    await expect(open(options)).rejects.toThrow(message);
  });

  test('is not opened when the signal is aborted, and ended by nothing but close later', async () => {
    const controller = new AbortController();
    const {session, server} = await open({}, ALL, {signal: controller.signal});
    controller.abort(new Error('enough'));
    session.stdin?.write('still here');
    await until(() => server.sessions[0]?.streams.get('stdin')?.received === 'still here');
    await expect(open({}, ALL, {signal: controller.signal})).rejects.toThrow('enough');
  });

  test('says what can not be reached, without the token', async () => {
    const opening = openSpdySession('http://127.0.0.1:1/exec/geheim', ALL, DIAL);
    await expect(opening).rejects.toThrow(/^connecting to 127.0.0.1:1: connect ECONNREFUSED/);
    await expect(opening).rejects.not.toThrow(/geheim/);
  });
});

test('what a server has said before it hung up is read, though what is written meanwhile fails', async () => {
  const {session} = await open({
    play: async (server) => {
      await server.stream('stdin').until((read) => read.length > 0);
      server.stream('stdout').send('the end');
      server.exit(6);
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
