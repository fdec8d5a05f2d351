import {once} from 'node:events';
import {connect, createServer, type Socket} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {
  forwardConnection,
  RESULT_TIMEOUT_MS,
} from '../../../src/streaming/port-forward/forward-connection.js';
import {SharedDeadline} from '../../../src/streaming/port-forward/shared-deadline.js';
import type {RemoteFailure} from '../../../src/streaming/port-forward/tunnel.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';
import {until} from '../../base/until.js';
import {FakeRemoteOutput} from '../fake-remote-output.js';
import {FakeClock} from '../../fakes/fake-clock.js';

/** Returns an open local connection. */
async function aConnection(): Promise<Socket> {
  const server = createServer({allowHalfOpen: true});
  const client = connect({port: await listenOnLoopback(server), allowHalfOpen: true});
  const [local] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    client.destroy();
    local.destroy();
    server.close();
  });
  return local;
}

test('a failure long after the end of the data is reported', async () => {
  const local = await aConnection();
  const clock = new FakeClock();
  let fail: (failure: RemoteFailure) => void = () => undefined;
  const done = new Promise<RemoteFailure>((resolve) => (fail = resolve));
  const data = new FakeRemoteOutput();
  const forwarding = forwardConnection(
    local.on('error', () => undefined),
    {data, done, close: () => undefined},
    new SharedDeadline(RESULT_TIMEOUT_MS, clock),
  );
  data.push(null);
  await until(() => clock.sleeping > 0);
  await clock.advance(RESULT_TIMEOUT_MS);
  fail({kind: 'lost'});
  expect(await forwarding).toEqual({kind: 'lost'});
  expect(local.destroyed).toBe(true);
});
