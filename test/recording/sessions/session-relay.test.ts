import {once} from 'node:events';
import {connect} from 'node:net';
import {text} from 'node:stream/consumers';
import {expect, onTestFinished, test} from 'vitest';
import {SessionRecorder} from '../../../src/recording/sessions/session-recorder.js';
import {SessionRelay} from '../../../src/recording/sessions/session-relay.js';
import {ByteBudget} from '../../../src/recording/tap/byte-budget.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';

test('a client that is refused and does not close its side is closed after a time', async () => {
  const clock = new FakeClock();
  const recorder = new SessionRecorder({
    write: () => undefined,
    clock,
    limits: {maxMessageBytes: 1, budget: new ByteBudget(1)},
    keeps: {client: false, server: false},
    maskLine: (line) => ({line, isCut: false}),
  });
  const relay = await SessionRelay.listen({recorder, clock});
  onTestFinished(() => {
    relay.close();
  });
  const url = new URL(
    relay.offer({call: 1, method: 'Exec'}, 'http://127.0.0.1:1/exec/abcdefghijklmnopqrstuvwxyz') ?? '',
  );
  const client = connect({port: Number(url.port), host: url.hostname, allowHalfOpen: true});
  client.write('POST /exec/other HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(await text(client)).toContain('404 Not Found');
  await until(() => clock.sleeping > 0);
  await clock.advance(5000);
  client.on('error', () => undefined);
  // A closed connection is reset by what arrives on it.
  const closed = once(client, 'close');
  await until(() => client.destroyed || !client.write('more'));
  await closed;
});
