import {once} from 'node:events';
import {createServer, type RequestListener} from 'node:http';
import {expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {LocalKubeletPods} from '../../../src/features/pods/local-kubelet-pods.js';
import {LocalKubeletClient} from '../../../src/features/pods/local-kubelet.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';
import {aPod} from '../../fakes/a-pod.js';
import {FakeClock, realTimeClock} from '../../fakes/fake-clock.js';

/** Port without a listener. */
const CLOSED = 1;

/** Pods of a kubelet that answers unless it is silent, and counts how often it was asked. */
function aKubelet() {
  const clock = new FakeClock();
  const kubelet = {asked: 0, isSilent: false, clock};
  const answer = async (): Promise<readonly Pod[] | undefined> => {
    kubelet.asked += 1;
    return await Promise.resolve(kubelet.isSilent ? undefined : [aPod({}, {name: `web-${kubelet.asked}`})]);
  };
  const pods = new LocalKubeletPods({pods: answer}, clock);
  return {kubelet, read: async (states: string) => (await pods.read(states))?.[0]?.metadata.name};
}

test('a kubelet is asked every five seconds while its runtime does not change', async () => {
  const {kubelet, read} = aKubelet();
  kubelet.clock.elapse(1000);
  await read('a');
  kubelet.clock.elapse(5000);
  expect(await read('a')).toBe('web-2');
  kubelet.clock.elapse(4999);
  expect(await read('a')).toBe('web-2');
  kubelet.clock.elapse(1);
  expect(await read('a')).toBe('web-3');
});

test('a kubelet is asked each time for five seconds after a change of its runtime', async () => {
  const {kubelet, read} = aKubelet();
  await read('a');
  kubelet.clock.elapse(10_000);
  await read('a');
  expect(kubelet.asked).toBe(2);
  expect(await read('b')).toBe('web-3');
  kubelet.clock.elapse(2000);
  expect(await read('b')).toBe('web-4');
  kubelet.clock.elapse(2999);
  expect(await read('b')).toBe('web-5');
  kubelet.clock.elapse(1);
  expect(await read('b')).toBe('web-5');
});

test('a kubelet that does not answer is asked again after 30 seconds', async () => {
  const {kubelet, read} = aKubelet();
  kubelet.isSilent = true;
  expect(await read('a')).toBeUndefined();
  kubelet.clock.elapse(29_999);
  expect(await read('b')).toBeUndefined();
  kubelet.isSilent = false;
  expect(kubelet.asked).toBe(1);
  kubelet.clock.elapse(1);
  expect(await read('b')).toBe('web-2');
});

/** Starts a kubelet, and returns a client of it and the number of its connections. */
async function startKubelet(listener: RequestListener) {
  const server = createServer({keepAliveTimeout: 0}, listener);
  const port = await listenOnLoopback(server);
  const counts = {connections: 0};
  server.on('connection', () => (counts.connections += 1));
  const stop = new AbortController();
  const kubelet = {readOnlyPort: port, port: CLOSED, credentials: []};
  const client = new LocalKubeletClient({kubelet, clock: realTimeClock({}), signal: stop.signal});
  onTestFinished(() => {
    stop.abort();
    server.closeAllConnections();
    server.close();
  });
  return {client, counts, stop, server};
}

test('a kubelet is asked over one connection, and equal answers are the same pods', async () => {
  let names = ['web'];
  const {client, counts} = await startKubelet((_, response) => {
    response.end(JSON.stringify({items: names.map((name) => aPod({}, {name}))}));
  });
  const first = await client.pods();
  expect(first).toMatchObject([{metadata: {name: 'web'}}]);
  expect(await client.pods()).toBe(first);
  names = ['api'];
  expect(await client.pods()).toMatchObject([{metadata: {name: 'api'}}]);
  expect(counts.connections).toBe(1);
});

test('a connection that a kubelet has closed is opened again', async () => {
  const {client, counts, server} = await startKubelet((_, response) => {
    response.end('{"items": []}');
  });
  await client.pods();
  server.closeAllConnections();
  expect(await client.pods()).toEqual([]);
  expect(counts.connections).toBe(2);
});

test('the connection to a kubelet ends with the command', async () => {
  const {client, stop, server} = await startKubelet((_, response) => {
    response.end('{"items": []}');
  });
  const [connected] = await Promise.all([
    once(server, 'connection') as Promise<[NodeJS.EventEmitter]>,
    client.pods(),
  ]);
  const closed = once(connected[0], 'close');
  stop.abort();
  await closed;
});
