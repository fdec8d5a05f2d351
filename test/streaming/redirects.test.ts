import {createServer} from 'node:http';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/base/clock.js';
import {UpgradeRefusedError} from '../../src/streaming/session/errors.js';
import {openSession} from '../../src/streaming/open-session.js';
import {openTunnel} from '../../src/streaming/port-forward/open-tunnel.js';
import type {DialOptions, SessionRequest} from '../../src/streaming/session/session.js';
import {listenOnLoopback} from '../base/listen-on-loopback.js';

const STREAMS: SessionRequest = {stdin: false, stdout: true, stderr: true, tty: false};
const DIAL: DialOptions = {
  signal: new AbortController().signal,
  clock: systemClock,
  tls: {},
  env: {},
};

/** Starts a streaming server that redirects to another one, and records the requests to both. */
async function aRedirectingServer(status: number): Promise<{
  readonly url: string;
  readonly received: {redirecting: number; target: number};
}> {
  const received = {redirecting: 0, target: 0};
  const target = createServer((_, response) => {
    received.target += 1;
    response.end();
  });
  target.on('connection', () => (received.target += 1));
  const location = `http://127.0.0.1:${await listenOnLoopback(target)}/exec/stolen`;
  const redirecting = createServer((_, response) => {
    received.redirecting += 1;
    response.writeHead(status, {location}).end();
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(redirecting)}/exec/token`;
  for (const server of [target, redirecting])
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
  return {url, received};
}

test.each([
  ['spdy', 302],
  ['spdy', 307],
  ['websocket', 302],
  ['websocket', 307],
  ['auto', 308],
] as const)('a session over %s does not follow a redirect with status %i', async (transport, status) => {
  const {url, received} = await aRedirectingServer(status);
  const opening = openSession(async () => url, STREAMS, {...DIAL, transport});
  await expect(opening).rejects.toThrow(UpgradeRefusedError);
  await expect(opening).rejects.toThrow(`the streaming server refused the session: ${status}`);
  expect(received).toEqual({redirecting: transport === 'auto' ? 2 : 1, target: 0});
});

test.each(['spdy', 'websocket'] as const)(
  'a tunnel over %s does not follow a redirect',
  async (transport) => {
    const {url, received} = await aRedirectingServer(302);
    const connecting = openTunnel(async () => url, {...DIAL, transport}).then((tunnel) => tunnel.connect(80));
    await expect(connecting).rejects.toThrow('the streaming server refused the session: 302');
    expect(received).toEqual({redirecting: 1, target: 0});
  },
);
