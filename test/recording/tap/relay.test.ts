import {once} from 'node:events';
import {connect as connectTo, createServer} from 'node:net';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {connect, containerId} from '../../../src/cri/index.js';
import {ByteBudget} from '../../../src/recording/tap/byte-budget.js';
import {ConnectionTap} from '../../../src/recording/tap/connection-tap.js';
import {IdleQueue} from '../../../src/recording/tap/idle-queue.js';
import {Relay, type HeldLimits} from '../../../src/recording/tap/relay.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';

const WEB = aSandbox({name: 'web'});
const MAIN = aContainer({sandbox: WEB, name: 'main'});
const LONG_MS = 600_000;
const MANY_BYTES = 1e6;

/** Calls Exec through a relay, which gets what the runtime sends in pieces of a few bytes. */
async function execInPieces(held: HeldLimits, {stallsInUrl = false} = {}) {
  const runtime = await FakeRuntime.start({
    streamingUrl: 'http://127.0.0.1:4000',
    sandboxes: [WEB],
    containers: [MAIN],
  });
  onTestFinished(() => runtime.stop());
  const reasons: string[] = [];
  const waitsInUrl = async (sent: string): Promise<void> => {
    if (stallsInUrl && sent.includes('http://127')) await until(() => reasons.length > 0);
  };
  const target = await splittingSocket(runtime.socketPath, waitsInUrl);
  const path = join(await temporaryDirectory(), 'relay.sock');
  const ignore = (): void => undefined;
  const relay = await Relay.listen(path, {
    target,
    clock: systemClock,
    queue: new IdleQueue({now: () => 0, monotonic: () => 0}),
    held,
    tap: (connection) =>
      new ConnectionTap(connection, {
        sink: {onStart: ignore, onMessage: ignore, onEnd: ignore},
        limits: {maxMessageBytes: 0, budget: new ByteBudget(0)},
        clock: {now: () => 0, monotonic: () => 0},
        urlOf: () => ({
          replace: (url) => url.replace('4000', '4999'),
          onOmitted: (reason) => reasons.push(reason),
        }),
      }),
    onUnreachable: ignore,
    onReachable: ignore,
    onUnreadable: ignore,
  });
  onTestFinished(() => {
    relay.close();
  });
  using connection = connect(`unix://${path}`);
  const {url} = await connection.runtime.exec({containerId: containerId(MAIN.id), cmd: ['x'], stdout: true});
  return {origin: new URL(url).origin, reasons};
}

/** Returns a socket that passes on what a runtime sends in writes of a few bytes. `pause` gets all that was sent. */
async function splittingSocket(runtime: string, pause: (sent: string) => Promise<void>): Promise<string> {
  const path = join(await temporaryDirectory(), 'split.sock');
  const proxy = createServer((client) => {
    const target = connectTo(runtime);
    client.on('error', () => target.destroy()).on('close', () => target.destroy());
    target.on('error', () => client.destroy());
    client.pipe(target);
    // A connection that is cut ends it.
    Readable.from(pieces(target as AsyncIterable<Buffer>, pause))
      .on('error', () => undefined)
      .pipe(client);
  });
  proxy.listen(path);
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  return path;
}

async function* pieces(
  source: AsyncIterable<Buffer>,
  pause: (sent: string) => Promise<void>,
): AsyncGenerator<Buffer> {
  let sent = '';
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += 7) {
      const piece = chunk.subarray(at, at + 7);
      yield piece;
      sent += piece.toString('latin1');
      await setImmediate();
      await pause(sent);
    }
}

test('replaces a URL whose response arrives in pieces', async () => {
  expect(await execInPieces({ms: LONG_MS, bytes: MANY_BYTES})).toEqual({
    origin: 'http://127.0.0.1:4999',
    reasons: [],
  });
});

test('passes a response on whose rest does not come in time, and says why', async () => {
  expect(await execInPieces({ms: 1, bytes: MANY_BYTES}, {stallsInUrl: true})).toEqual({
    origin: 'http://127.0.0.1:4000',
    reasons: ['the response with its URL was not complete in time'],
  });
});

test('passes a response on of which too much would be held back, and says why', async () => {
  expect(await execInPieces({ms: LONG_MS, bytes: 10})).toEqual({
    origin: 'http://127.0.0.1:4000',
    reasons: ['too much was held back before the response with its URL was complete'],
  });
});
