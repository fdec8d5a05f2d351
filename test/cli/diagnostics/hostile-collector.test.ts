import {randomBytes} from 'node:crypto';
import {expect, test} from 'vitest';
import {startTrace} from '../../../src/cli/diagnostics/tracing.js';
import {RUNTIME_METHODS} from '../../../src/cri/gen/services.js';
import {timeBudget} from '../../base/time-budget.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {runKcri} from '../run-kcri.js';
import {startHostileCollector, type CollectorBehavior} from './hostile-collector.js';
import {OtlpReceiver} from './otlp-receiver.js';

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

const CALLS = 3000;

test('a command with thousands of calls ends although the collector does not respond', async () => {
  await using runtime = await FakeRuntime.start();
  await using collector = await startHostileCollector({request: () => undefined});
  const ids = Array.from({length: CALLS}, (_, index) => `id-${index}`);
  const args = ['--enable-tracing', '--tracing-endpoint', collector.endpoint, 'inspect', ...ids];
  const {exitCode, stderr} = await runKcri(args, {endpoint: runtime.endpoint});
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/kcri: warning: cannot send the trace to .*\n$/);
});

test('a trace with thousands of calls is sent', async () => {
  await using collector = await OtlpReceiver.start();
  const warnings: string[] = [];
  const report = (text: string): void => void warnings.push(text);
  const trace = startTrace(
    // The command's own limit may be too short for a loaded machine.
    {endpoint: collector.endpoint, perMillion: -1, flushMs: timeBudget(300_000)},
    {name: 'inspect', program: 'kcri', mask: (text) => text, inform: report, warn: report},
  );
  const call = {
    service: 'runtime.v1.RuntimeService',
    endpoint: '/run/containerd/containerd.sock',
    method: RUNTIME_METHODS.containerStatus,
    request: {},
  };
  for (let count = 0; count < CALLS; count += 1) trace.observer?.(call).ended?.();
  await trace.finish(undefined);
  expect(warnings).toEqual([]);
  // Spans that are faster than the collector are dropped above this number.
  expect(collector.spans.length).toBeGreaterThanOrEqual(2048);
});
