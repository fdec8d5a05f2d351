import {randomBytes} from 'node:crypto';
import {expect, test} from 'vitest';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {runKcri} from '../run-kcri.js';
import {startHostileCollector, type CollectorBehavior} from './hostile-collector.js';

const GRPC = {':status': 200, 'content-type': 'application/grpc'};
/** Frame header of a gRPC message: not compressed, and its length. */
const prefix = (length: number): Buffer => Buffer.of(0, 0, 0, length >> 8, length & 255);

const BEHAVIORS: Readonly<Record<string, CollectorBehavior>> = {
  'accepts and says nothing': {connection: () => undefined},
  'closes connections at once': {connection: (socket) => socket.destroy()},
  'sends random bytes': {connection: (socket) => socket.write(randomBytes(100_000))},
  'sends without end': {
    connection: (socket) => {
      const send = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
      };
      socket.on('drain', send);
      send();
    },
  },
  'does not respond to a request': {request: () => undefined},
  'responds with a broken message': {
    request: (stream) => {
      stream.respond(GRPC, {waitForTrailers: true});
      stream.on('wantTrailers', () => {
        stream.sendTrailers({'grpc-status': '0'});
      });
      stream.end(Buffer.concat([prefix(300), randomBytes(300)]));
    },
  },
  'announces a message of 4 GiB': {
    request: (stream) => {
      stream.respond(GRPC);
      stream.write(Buffer.of(0, 255, 255, 255, 255));
    },
  },
  'responds with HTML': {
    request: (stream) => {
      stream.respond({':status': 502, 'content-type': 'text/html'});
      stream.end('<html>'.repeat(10_000));
    },
  },
  'responds with control characters': {
    request: (stream) => {
      stream.respond({...GRPC, 'grpc-status': '3', 'grpc-message': '%1B[2J%0Aevil%0D'}, {endStream: true});
    },
  },
  'responds with a long error': {
    request: (stream) => {
      stream.respond({...GRPC, 'grpc-status': '3', 'grpc-message': 'x'.repeat(15_000)}, {endStream: true});
    },
  },
};

test.each(Object.entries(BEHAVIORS))(
  'a collector that %s does not affect the command',
  async (_name, behavior) => {
    await using runtime = await FakeRuntime.start();
    await using collector = await startHostileCollector(behavior);
    const args = ['--enable-tracing', '--tracing-endpoint', collector.endpoint, 'version'];
    const {stdout, stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect({exitCode, stdout}).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining('RuntimeName') as string,
    });
    expect(stderr).toMatch(
      /^(kcri: warning: cannot send the trace to 127\.0\.0\.1:\d+: \P{Cc}{1,1000}\n)?$/u,
    );
  },
);

test('a trace with thousands of calls is sent', async () => {
  await using runtime = await FakeRuntime.start();
  let requests = 0;
  await using collector = await startHostileCollector({request: () => (requests += 1)});
  const ids = Array.from({length: 3000}, (_, index) => `id-${index}`);
  const args = ['--enable-tracing', '--tracing-endpoint', collector.endpoint, 'inspect', ...ids];
  const {exitCode, stderr} = await runKcri(args, {endpoint: runtime.endpoint});
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/kcri: warning: cannot send the trace to .*\n$/);
  expect(requests).toBeGreaterThan(0);
});
