import {once} from 'node:events';
import {connect as connectTls} from 'node:tls';
import {describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {realTimeClock} from '../../fakes/fake-clock.js';
import {MAX_CONNECTIONS} from '../../../src/http-server/listener.js';
import {HEAD_LIMIT_MS} from '../../../src/http-server/request-server.js';
import {connectClient, pipelined, type RawClient} from '../../http-server/http-client.js';
import {requestAt, startServerTestbed} from './server-testbed.js';

const CONNECTIONS = 50;

async function connectMany(url: string, count: number): Promise<readonly RawClient[]> {
  return await Promise.all(Array.from({length: count}, async () => await connectClient(url)));
}

describe('requests that clients send ahead', () => {
  test.each([
    ['readOnly', '/metrics'],
    ['readOnly', '/pods'],
    ['health', '/healthz'],
  ] as const)('to %s %s do not delay a health check', async (port, path) => {
    const {servers, kubelet} = await startServerTestbed();
    const {[port]: flooded = '', health = ''} = servers.urls;
    let responses = 0;
    const {pods} = kubelet;
    kubelet.pods = () => {
      responses += 1;
      return pods();
    };
    const clients = await connectMany(flooded, CONNECTIONS);
    // More than clients and servers can buffer: the flood cannot end before the health check.
    for (const {socket} of clients) socket.write(pipelined(50_000, path));
    await until(() => clients.every(({received}) => received.includes('HTTP/1.1 200 ')));
    const before = responses;
    expect(await requestAt(health, '/healthz')).toMatchObject({status: 200, body: 'ok'});
    expect(responses - before).toBeLessThan(1000);
    for (const {received} of clients) expect(received.split('HTTP/1.1').length).toBeLessThan(10_000);
  });

  test('are all answered on the port with TLS', async () => {
    const {servers} = await startServerTestbed();
    const {hostname, port} = new URL(servers.urls.main ?? '');
    const socket = connectTls({host: hostname, port: Number(port), rejectUnauthorized: false});
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.write(pipelined(1000, '/healthz'));
    await until(() => received.split('HTTP/1.1 200 OK').length === 1001);
  });
});

describe('idle connections', () => {
  test('do not lock others out: a new connection replaces the one that has been idle the longest', async () => {
    const {servers} = await startServerTestbed();
    const health = servers.urls.health ?? '';
    const [first] = await connectMany(health, 1);
    await connectMany(health, MAX_CONNECTIONS + 100);
    expect(await requestAt(health, '/healthz')).toMatchObject({status: 200});
    await until(() => first!.socket.readableEnded || first!.isClosed);
  });

  test('are closed on the port with TLS before and after the handshake', async () => {
    const clock = realTimeClock({sleepMs: (ms) => (ms === HEAD_LIMIT_MS ? 500 : ms)});
    const {servers} = await startServerTestbed({options: {clock}});
    const {hostname, port} = new URL(servers.urls.main ?? '');
    const silent = await connectClient(servers.urls.main ?? '');
    const partial = await connectClient(servers.urls.main ?? '');
    partial.socket.write(Buffer.from([22, 3, 1]));
    const secure = connectTls({host: hostname, port: Number(port), rejectUnauthorized: false});
    secure.on('error', () => undefined).resume();
    await once(secure, 'close');
    await until(() => [silent, partial].every(({socket, isClosed}) => isClosed || socket.readableEnded));
  });
});

test.each(['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 'POST /run/a/b/c HTTP/1.1\r\n'])(
  'plain HTTP on the port with TLS is rejected as net/http does: %j',
  async (head) => {
    const {servers, request} = await startServerTestbed();
    const client = await connectClient(servers.urls.main ?? '');
    client.socket.write(head);
    await until(() => client.socket.readableEnded);
    expect(client.received).toBe(
      'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
    );
    expect((await request('/healthz')).status).toBe(200);
  },
);

test('data that is neither HTTP nor TLS closes the connection to the port with TLS', async () => {
  const {servers, request} = await startServerTestbed();
  const client = await connectClient(servers.urls.main ?? '');
  client.socket.write('SSH-2.0-OpenSSH_9.2\r\n');
  await until(() => client.isClosed || client.socket.readableEnded);
  expect((await request('/healthz')).status).toBe(200);
});

test('trace context of a client, however large or invalid, is neither used nor passed to the runtime', async () => {
  const {request, runtime} = await startServerTestbed();
  const headers = {
    traceparent: `00-${'f'.repeat(5000)}-zz-ff`,
    tracestate: 'a=b,'.repeat(2000),
    baggage: `k=${'v'.repeat(200_000)}`,
  };
  expect((await request('/stats/summary', {headers})).status).toBe(200);
  const received = runtime.calls.map(({metadata}) => Object.keys(metadata)).flat();
  expect(received).not.toEqual(expect.arrayContaining([expect.stringMatching(/trace|baggage/)]));
});
