import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import {Duplex} from 'node:stream';
import {expect, onTestFinished, test} from 'vitest';
import {passBytes} from '../../../src/recording/tap/pass-bytes.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';

/** Returns the two ends of a connection, each of which may end without the other. */
async function aConnection(): Promise<{readonly accepted: Socket; readonly peer: Socket}> {
  const server = createServer({allowHalfOpen: true}).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  const peer = connect({port, host: '127.0.0.1', allowHalfOpen: true});
  const [accepted] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    accepted.destroy();
    peer.destroy();
  });
  return {accepted, peer};
}

/** Passes bytes between a client, which sends, and a runtime that takes nothing. */
async function aStalledRelay() {
  const {accepted: client, peer} = await aConnection();
  const runtime = new Duplex({highWaterMark: 1, read: () => undefined, write: () => undefined});
  const clock = new FakeClock();
  const options = (to: Duplex) => ({
    write: (chunk: Buffer) => to.write(chunk),
    onEnd: () => undefined,
    onClose: () => undefined,
    clock,
  });
  passBytes(client, runtime, options(runtime));
  passBytes(runtime, client, options(client));
  peer.write(Buffer.alloc(1e6));
  await until(() => client.isPaused());
  return {client, peer, runtime, clock};
}

test('a client that waits for the runtime is closed when the runtime has closed', async () => {
  const {client, peer, runtime} = await aStalledRelay();
  peer.resume();
  peer.once('end', () => peer.end());
  runtime.destroy();
  await once(client, 'close');
});

test('a client that does not close its side is closed after a time', async () => {
  const {client, peer, runtime, clock} = await aStalledRelay();
  peer.resume();
  runtime.destroy();
  await once(peer, 'end');
  await until(() => clock.sleeping > 0);
  expect(client.destroyed).toBe(false);
  await clock.advance(5000);
  await once(client, 'close');
});
