import {text} from 'node:stream/consumers';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {SessionOptions, SessionRequest} from '../../../src/streaming/session/session.js';
import {openWebSocketSession} from '../../../src/streaming/websocket/websocket-session.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {collectMessages, onChannel, startFakeWebSocketServer} from './fake-websocket-server.js';

const V5 = 'v5.channel.k8s.io';
const V4 = 'v4.channel.k8s.io';

const options: SessionOptions = {
  signal: new AbortController().signal,
  clock: systemClock,
  tls: {},
  env: {},
};

const PLAIN: SessionRequest = {stdin: false, stdout: true, stderr: true, tty: false};
const SUCCESS = JSON.stringify({status: 'Success'});
const exitCode = (code: number): string =>
  JSON.stringify({
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code`,
    details: {causes: [{reason: 'ExitCode', message: String(code)}]},
  });

test('offers v5 and v4, v5 first', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const session = await openWebSocketSession(server.url, PLAIN, options);
  expect(server.offers).toEqual([`${V5},${V4}`]);
  session.close();
});

test.each([
  [V4, false],
  [V5, true],
])('the end of stdin can be sent to a %s server: %s', async (protocol, can) => {
  await using server = await startFakeWebSocketServer({protocols: [protocol]});
  const session = await openWebSocketSession(server.url, {...PLAIN, stdin: true}, options);
  const messages = collectMessages(await server.opened());
  session.stdin!.write('in');
  await new Promise<void>((resolve) => session.stdin!.end(resolve));
  const expected = [onChannel(0, 'in'), ...(can ? [Buffer.of(255, 0)] : [])];
  await until(() => messages.length === expected.length);
  expect({halfCloses: session.halfClosesStdin, messages}).toEqual({halfCloses: can, messages: expected});
  session.close();
});

test('stdout and stderr are separate, and the status is the result', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const session = await openWebSocketSession(server.url, PLAIN, options);
  const remote = await server.opened();
  for (const message of [
    [1, ''],
    [1, 'out '],
    [2, 'err'],
    [1, 'put'],
    [3, exitCode(7)],
  ] as const)
    remote.send(onChannel(message[0], message[1]));
  remote.terminate();
  expect(await Promise.all([text(session.stdout!), text(session.stderr!), session.result])).toEqual([
    'out put',
    'err',
    {kind: 'exited', exitCode: 7},
  ]);
});

test('messages in one packet with the response are received', async () => {
  await using server = await startFakeWebSocketServer({
    protocols: [V4],
    onOpen: (socket, transport) => {
      transport.cork();
      socket.send(onChannel(1, 'at once'));
      socket.send(onChannel(3, SUCCESS));
      transport.uncork();
      socket.terminate();
    },
  });
  const session = await openWebSocketSession(server.url, PLAIN, options);
  expect(await text(session.stdout!)).toBe('at once');
  expect(await session.result).toEqual({kind: 'exited', exitCode: 0});
});

describe('without a status', () => {
  test('a regular end of a v5 connection is success', async () => {
    await using server = await startFakeWebSocketServer({
      protocols: [V5],
      onOpen: (socket) => {
        socket.close(1000, 'done');
      },
    });
    const session = await openWebSocketSession(server.url, PLAIN, options);
    expect(await session.result).toEqual({kind: 'exited', exitCode: 0});
  });

  test.each([
    ['a regular end of a v4 connection', V4, 1000],
    ['an error on a v5 connection', V5, 1011],
  ])('%s is an error', async (_case, protocol, code) => {
    await using server = await startFakeWebSocketServer({
      protocols: [protocol],
      onOpen: (socket) => {
        socket.close(code);
      },
    });
    const session = await openWebSocketSession(server.url, PLAIN, options);
    await expect(session.result).rejects.toThrow('was lost before the result of the command');
  });

  test.each([V4, V5])('losing a %s connection is an error after its output', async (protocol) => {
    await using server = await startFakeWebSocketServer({
      protocols: [protocol],
      onOpen: (socket, transport) => {
        socket.send(onChannel(1, 'half'), () => transport.resetAndDestroy());
      },
    });
    const session = await openWebSocketSession(server.url, PLAIN, options);
    await expect(session.result).rejects.toMatchObject({code: 'STREAMING'});
    expect(await text(session.stdout!)).toMatch(/^(half)?$/);
  });
});

test('the size of a terminal is sent on its own channel', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V5]});
  const session = await openWebSocketSession(
    server.url,
    {stdin: true, stdout: true, stderr: false, tty: true},
    options,
  );
  const messages = collectMessages(await server.opened());
  session.resize({columns: 120, rows: 40});
  await until(() => messages.length === 1);
  expect(messages).toEqual([onChannel(4, '{"Width":120,"Height":40}')]);
  session.close();
});

test('a slow reader pauses the server instead of filling memory', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const session = await openWebSocketSession(server.url, PLAIN, options);
  const remote = await server.opened();
  const chunk = onChannel(1, Buffer.alloc(64 * 1024));
  let sent = 0;
  const send = (): void => {
    remote.send(chunk, () => {
      sent += chunk.length - 1;
      if (sent < 64 * 1024 * 1024) send();
      else remote.close();
    });
  };
  send();
  // Nothing is read: sent data fills the system's buffers only.
  let before = -1;
  await expect
    .poll(
      () => {
        const quiet = sent === before;
        before = sent;
        return quiet;
      },
      {interval: 300},
    )
    .toBe(true);
  expect(session.stdout!.readableLength).toBeLessThan(1024 * 1024);
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  let received = 0;
  for await (const chunk of session.stdout!) received += (chunk as Buffer).length;
  expect(received).toBe(64 * 1024 * 1024);
});

test('input waits for a server that does not read', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const session = await openWebSocketSession(server.url, {...PLAIN, stdin: true}, options);
  (await server.opened()).pause();
  let writes = 0;
  const stdin = session.stdin!;
  while (stdin.write(Buffer.alloc(64 * 1024)) && writes < 1000) writes += 1;
  expect(stdin.writableLength).toBeLessThanOrEqual(512 * 1024);
  session.close();
});

test('data on other channels is ignored', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const session = await openWebSocketSession(server.url, {...PLAIN, stderr: false}, options);
  const remote = await server.opened();
  for (let round = 0; round < 20; round += 1) remote.send(onChannel(2, Buffer.alloc(64 * 1024)));
  remote.send(onChannel(9, 'what'));
  remote.send(Buffer.alloc(0));
  remote.send(onChannel(3, SUCCESS));
  remote.close();
  expect(await session.result).toEqual({kind: 'exited', exitCode: 0});
});

test('a message above the maximum size is rejected', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const session = await openWebSocketSession(server.url, PLAIN, options);
  (await server.opened()).send(onChannel(1, Buffer.alloc(17 * 1024 * 1024)));
  await expect(session.result).rejects.toMatchObject({code: 'STREAMING'});
});

test('a server without WebSocket is reported with its status', async () => {
  await using server = await startFakeWebSocketServer({protocols: ['v1.other']});
  await expect(openWebSocketSession(server.url, PLAIN, options)).rejects.toMatchObject({
    code: 'STREAMING_REFUSED',
    status: 403,
  });
});

test('an unreachable address is reported without the token', async () => {
  const opening = openWebSocketSession('http://127.0.0.1:1/exec/secret', PLAIN, options);
  const error = await opening.catch((reason: unknown) => reason as Error);
  expect((error as Error).message).toMatch(/127\.0\.0\.1:1/);
  expect((error as Error).message).not.toContain('secret');
});

test('an abort cancels opening', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const stop = new AbortController();
  stop.abort(new Error('interrupted'));
  const opening = openWebSocketSession(server.url, PLAIN, {...options, signal: stop.signal});
  await expect(opening).rejects.toThrow('interrupted');
});

test('returns the exit code of a process with stuck input, after output that arrives late', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const clock = new FakeClock();
  const asked: number[] = [];
  const session = await openWebSocketSession(
    server.url,
    {...PLAIN, stdin: true},
    {
      ...options,
      clock,
      probe: {
        find: () => Promise.resolve(),
        exitCode: () => Promise.resolve(asked.push(clock.now()) > 1 ? 7 : undefined),
      },
    },
  );
  const remote = await server.opened();
  let [output, settled] = ['', false];
  session.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const result = session.result.finally(() => (settled = true));
  await new Promise<void>((resolve) =>
    session.stdin!.write(Buffer.alloc(100_000), () => {
      resolve();
    }),
  );
  const pass = async (): Promise<void> => {
    await until(() => clock.sleeping > 0);
    await clock.advance(1000);
  };
  while (asked.length < 2) await pass();
  remote.send(onChannel(1, 'late'));
  await until(() => output === 'late');
  await pass();
  expect(settled).toBe(false);
  while (!settled) {
    await until(() => clock.sleeping > 0 || settled);
    await clock.advance(1000);
  }
  expect(await result).toEqual({kind: 'exited', exitCode: 7});
  expect(output).toBe('late');
});
