import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {forwardConnection, VERDICT_LIMIT_MS} from '../../../src/streaming/port-forward/forward-connection.js';
import {Patience} from '../../../src/streaming/port-forward/patience.js';
import type {FarFailure} from '../../../src/streaming/port-forward/tunnel.js';
import {until} from '../../base/until.js';
import {FakeOutput} from '../fake-output.js';
import {ManualClock} from '../manual-clock.js';

/** A local connection that is open. */
async function aConnection(): Promise<Socket> {
  const server = createServer({allowHalfOpen: true});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect({port: (server.address() as AddressInfo).port, allowHalfOpen: true});
  const [local] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    client.destroy();
    local.destroy();
    server.close();
  });
  return local;
}

test('a failure that is told long after the end of the data is one all the same', async () => {
  const local = await aConnection();
  const clock = new ManualClock();
  let fail: (failure: FarFailure) => void = () => undefined;
  const done = new Promise<FarFailure>((resolve) => (fail = resolve));
  const data = new FakeOutput();
  const forwarding = forwardConnection(
    local.on('error', () => undefined),
    {data, done, close: () => undefined},
    new Patience(VERDICT_LIMIT_MS, clock),
  );
  data.push(null);
  await until(() => clock.sleeping > 0);
  await clock.advance(VERDICT_LIMIT_MS);
  fail({kind: 'lost'});
  expect(await forwarding).toEqual({kind: 'lost'});
  expect(local.destroyed).toBe(true);
});
