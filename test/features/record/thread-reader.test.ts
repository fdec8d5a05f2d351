import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {connect as connectTo, createServer} from 'node:net';
import {join} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {readerThreadText} from '../../../scripts/bundle/reader-thread.mjs';
import {systemClock} from '../../../src/base/clock.js';
import {connect, type Connection} from '../../../src/cri/index.js';
import type {CallReader} from '../../../src/features/record/reader/call-reader.js';
import {OwnThreadReader} from '../../../src/features/record/reader/own-thread-reader.js';
import {ThreadReader} from '../../../src/features/record/reader/thread-reader.js';
import {ByteBudget} from '../../../src/recording/tap/byte-budget.js';
import {Relay} from '../../../src/recording/tap/relay.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';

const clock = {now: () => systemClock.now(), monotonic: () => systemClock.monotonic()};
const mask = {env: false, keepOutput: false, keepInput: false};
const limits = {maxMessageBytes: 2 ** 24, budget: new ByteBudget(2 ** 26)};

let source = '';
beforeAll(async () => {
  source = await readerThreadText(fileURLToPath(new URL('../../..', import.meta.url)));
});

/** Starts a reader in a thread, and collects its lines and failures. */
function startThread(program = source) {
  const lines: string[] = [];
  const failures: string[] = [];
  const reader = new ThreadReader({
    ...{source: program, clock, mask, makesLines: true, maxMessageBytes: 2 ** 24, budgetBytes: 2 ** 26},
    write: (line) => lines.push(line.toString()),
    onUnreadable: (message) => failures.push(message),
    onFailure: ({message}) => failures.push(message),
  });
  onTestFinished(() => reader.end().catch(() => undefined));
  return {reader, lines, failures};
}

/** Connects to a runtime through a relay that a reader reads along. */
async function connectThrough(reader: CallReader, runtime: FakeRuntime): Promise<Connection> {
  const connection = connect(`unix://${await relayTo(runtime.socketPath, reader)}`);
  onTestFinished(() => {
    connection.close();
  });
  return connection;
}

/** Starts a relay to a socket that a reader reads along, and returns its path. */
async function relayTo(target: string, reader: CallReader): Promise<string> {
  const path = join(await temporaryDirectory(), 'relay.sock');
  const relay = await Relay.listen(path, {
    target,
    clock: systemClock,
    queue: reader.queue,
    tap: (connection) => reader.open(connection, undefined),
    onUnreachable: () => undefined,
    onReachable: () => undefined,
    onUnreadable: () => undefined,
  });
  onTestFinished(() => {
    relay.close();
  });
  return path;
}

/** Returns what the sides of a connection send for a call of Version. */
async function bytesOfVersion(runtime: FakeRuntime) {
  const sent: {readonly from: 'client' | 'server'; readonly chunk: Buffer}[] = [];
  const {reader} = startThread();
  const spied: CallReader = {
    queue: reader.queue,
    open: (connection) => {
      const tap = reader.open(connection);
      const read = tap.read.bind(tap);
      tap.read = (from, chunk) => {
        sent.push({from, chunk: Buffer.from(chunk)});
        read(from, chunk);
      };
      return tap;
    },
    summarize: () => reader.summarize(),
    end: () => reader.end(),
  };
  await (await connectThrough(spied, runtime)).runtime.version();
  return sent;
}

const MANY = Array.from({length: 300}, (_, index) => aSandbox({name: `web-${index}`}));
const startLarge = () =>
  FakeRuntime.start({sandboxes: MANY, containers: MANY.map((sandbox) => aContainer({sandbox}))});

describe('a reader in a thread', () => {
  test('makes the same lines as one in the thread that relays', async () => {
    await using runtime = await startLarge();
    const inThread = startThread();
    const own: string[] = [];
    const reader = new OwnThreadReader({clock, limits, mask, write: (line) => own.push(line.toString())});
    for (const each of [inThread.reader, reader]) {
      const {runtime: calls, images} = await connectThrough(each, runtime);
      await calls.version();
      // The second answers are the same, and long enough for memory of their own.
      for (let round = 1; round <= 2; round += 1)
        await Promise.all([calls.listContainers(), calls.listPodSandbox(), images.listImages()]);
      await calls.version();
      await expect(images.pullImage({image: {image: ''}})).rejects.toThrow();
      expect(await each.summarize()).toHaveLength(5);
      await each.end();
    }
    expect(comparable(inThread.lines)).toEqual(comparable(own));
    expect(inThread.failures).toEqual([]);
  });

  test('reads more than the threads share, and loses nothing', async () => {
    await using runtime = await startLarge();
    const {reader, lines} = startThread();
    const {runtime: calls} = await connectThrough(reader, runtime);
    const {containers} = await calls.listContainers();
    const CALLS = 240;
    await Promise.all(Array.from({length: CALLS}, () => calls.listContainers()));
    expect(await reader.summarize()).toMatchObject([{method: 'ListContainers', calls: CALLS + 1, open: 0}]);
    await reader.end();
    expect(lines).toHaveLength(CALLS + 1);
    const total = lines.reduce((sum, line) => sum + line.length, 0);
    expect(total).toBeGreaterThan(2 ** 24);
    for (const line of lines)
      expect((JSON.parse(line) as {response: {containers: unknown[]}}).response.containers).toHaveLength(
        containers.length,
      );
  });

  test('lets connections wait while it has too much to read', async () => {
    const {reader} = startThread();
    const tap = reader.open(1);
    for (let index = 0; index < 1000; index += 1) tap.read('client', Buffer.alloc(65_536));
    let isReady = false;
    expect(reader.queue.awaitRoom(() => (isReady = true))).toBe(true);
    await until(() => isReady);
    expect(reader.queue.awaitRoom(() => undefined)).toBe(false);
  });

  test('copies what has no room, since its memory is reused', async () => {
    await using runtime = await FakeRuntime.start();
    const sent = await bytesOfVersion(runtime);
    const gate = join(await temporaryDirectory(), 'gate');
    const waits = `while (!process.getBuiltinModule('fs').existsSync(${JSON.stringify(gate)}));`;
    const {reader} = startThread(`${waits}\n${source}`);
    const garbage = reader.open(1);
    for (let index = 0; index < 16; index += 1) garbage.read('client', Buffer.alloc(2 ** 20));
    const tap = reader.open(2);
    for (const {from, chunk} of sent) {
      tap.read(from, chunk);
      chunk.fill(0);
    }
    await writeFile(gate, '');
    expect(await reader.summarize()).toMatchObject([{method: 'Version', calls: 1, open: 0}]);
  });

  test('passes bytes on unchanged to a client that reads slowly', async () => {
    const folder = await temporaryDirectory();
    const sent = randomBytes(8 * 2 ** 20);
    const server = createServer((socket) => void socket.end(sent)).listen(join(folder, 'runtime.sock'));
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const {reader} = startThread();
    const path = await relayTo(join(folder, 'runtime.sock'), reader);
    const received: Buffer[] = [];
    for await (const chunk of connectTo(path)) {
      received.push(chunk as Buffer);
      await nextTurn();
    }
    expect(Buffer.concat(received).equals(sent)).toBe(true);
  });

  test('knows the calls that are open, other than streams', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await using runtime = await FakeRuntime.start({
      intercept: ({method}) => (method === 'Status' ? released : undefined),
    });
    const {reader} = startThread();
    const taps: ReturnType<CallReader['open']>[] = [];
    const spied: CallReader = {
      queue: reader.queue,
      open: (connection) => {
        const tap = reader.open(connection);
        taps.push(tap);
        return tap;
      },
      summarize: () => reader.summarize(),
      end: () => reader.end(),
    };
    const {runtime: calls} = await connectThrough(spied, runtime);
    const status = calls.status();
    await until(() => runtime.callsTo('Status').length === 1);
    expect(await taps[0]?.hasOpenUnaryCalls()).toBe(true);
    release();
    await status;
    expect(await taps[0]?.hasOpenUnaryCalls()).toBe(false);
  });

  test.each([
    ['throws', 'throw new Error("broken")', 'reading the calls failed: broken'],
    ['exits', 'process.exit(3)', 'reading the calls failed: its thread has ended'],
  ])('that %s is a failure, and calls are passed on', async (_, program, message) => {
    await using runtime = await FakeRuntime.start();
    const {reader, failures} = startThread(program);
    await until(() => failures.length > 0);
    const {runtime: calls} = await connectThrough(reader, runtime);
    await calls.version();
    expect(failures).toEqual([message]);
    expect(await reader.summarize()).toEqual([]);
    await expect(reader.end()).rejects.toThrow(message);
  });
});

/** Returns lines without times and numbers, in the order of their methods: that of concurrent calls differs. */
function comparable(lines: readonly string[]): readonly string[] {
  return lines
    .map((line) =>
      line
        .replace(/"time":"[^"]+","call":\d+/, '')
        .replace(/"durationMs":[\d.]+/, '')
        .replace(/"timeoutMs":\d+/, '')
        .replace(/"date":"[^"]+"/, ''),
    )
    .toSorted((a, b) => (/"method":.*/.exec(a)?.[0] ?? '').localeCompare(/"method":.*/.exec(b)?.[0] ?? ''));
}
