import {expect, test} from 'vitest';
import type {Node} from '../../../../src/api/types/v1-node.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {ApiClient} from '../../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../../src/kube-api/http-connection.js';
import {NodeLease} from '../../../../src/kubelet/cluster/node/node-lease.js';
import {registerNode} from '../../../../src/kubelet/cluster/node/node-registrar.js';
import {until} from '../../../base/until.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const logger = SILENT_LOGGER;

function clientOf(api: FakeApiServer, clock: FakeClock): ApiClient {
  const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
  return new ApiClient({connection, userAgent: 'kcri', clock});
}

/** Runs a lease until the scene is disposed. */
function runLease(api: FakeApiServer, clock: FakeClock): AsyncDisposable {
  const controller = new AbortController();
  const lease = new NodeLease({
    client: clientOf(api, clock),
    nodeName: 'n1',
    leaseDurationSeconds: 40,
    clock,
    random: () => 0,
    logger,
  });
  const ended = lease.run(controller.signal).catch(() => undefined);
  return {
    [Symbol.asyncDispose]: async () => {
      controller.abort();
      await ended;
    },
  };
}

const leaseWrites = (api: FakeApiServer): readonly string[] =>
  api.requests.map(({method, path, code}) => {
    const what = path.includes('/nodes/') ? ' of the Node' : '';
    return `${method}${what} ${code ?? ''}`;
  });
const putNode = (api: FakeApiServer): void => {
  api.storage.put('/api/v1/nodes/n1', {apiVersion: 'v1', kind: 'Node', metadata: {name: 'n1', uid: 'u1'}});
};

test('a lease is created with its owner, and renewed after a quarter of its duration', async () => {
  await using api = await FakeApiServer.start();
  putNode(api);
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  await using _lease = runLease(api, clock);
  await until(() => clock.sleeping === 1);
  expect(api.storage.get(`${LEASES}/n1`)).toMatchObject({
    metadata: {ownerReferences: [{kind: 'Node', name: 'n1', uid: 'u1'}]},
    spec: {holderIdentity: 'n1', renewTime: '2026-05-01T12:00:00.000000Z'},
  });
  await clock.advance(10_000);
  await until(() => clock.sleeping === 1);
  expect(leaseWrites(api)).toEqual(['GET 404', 'GET of the Node 200', 'POST 201', 'PUT 200']);
  expect(api.storage.get(`${LEASES}/n1`)?.['spec']).toMatchObject({renewTime: '2026-05-01T12:00:10.000000Z'});
});

// As recorded in node-start: a lease without an owner would outlive its Node.
test('a lease is created in the first round in which its owner exists', async () => {
  await using api = await FakeApiServer.start();
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  await using _lease = runLease(api, clock);
  await until(() => clock.sleeping === 1);
  expect(leaseWrites(api)).toEqual(['GET 404', 'GET of the Node 404']);
  putNode(api);
  await clock.advance(10_000);
  await until(() => clock.sleeping === 1);
  const later = ['GET 404', 'GET of the Node 200', 'POST 201'];
  expect(leaseWrites(api).slice(2)).toEqual(later);
});

test('a lease that somebody else has changed is read and renewed at once', async () => {
  await using api = await FakeApiServer.start();
  putNode(api);
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  await using _lease = runLease(api, clock);
  await until(() => clock.sleeping === 1);
  const lease = api.storage.get(`${LEASES}/n1`)!;
  api.storage.put(`${LEASES}/n1`, {...lease, metadata: {...lease.metadata, labels: {team: 'a'}}});
  await clock.advance(10_000);
  await until(() => clock.sleeping === 1);
  expect(leaseWrites(api).slice(3)).toEqual(['PUT 409', 'GET 200', 'PUT 200']);
  expect(api.storage.get(`${LEASES}/n1`)?.metadata['labels']).toEqual({team: 'a'});
});

test('after five failed renewals the lease is read until that succeeds', async () => {
  await using api = await FakeApiServer.start();
  putNode(api);
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  await using _lease = runLease(api, clock);
  await until(() => clock.sleeping === 1);
  api.inject(() => true, {code: 500}, 7);
  clock.clearSleeps();
  await clock.advance(10_000);
  for (const delay of [200, 400]) {
    await until(() => clock.sleeps.at(-1) === delay);
    await clock.advance(delay);
  }
  await until(() => clock.sleeps.at(-1) === 10_000);
  expect(leaseWrites(api).slice(3)).toEqual([
    ...Array.from({length: 5}, () => 'PUT 500'),
    ...['GET 500', 'GET 500', 'GET 200', 'PUT 200'],
  ]);
});

test('registration is repeated with growing delays', async () => {
  await using api = await FakeApiServer.start();
  api.inject(({method}) => method === 'POST', {code: 500}, 4);
  const clock = new FakeClock({sleep: 'instant'});
  const createNode = async (): Promise<Node> => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {name: 'n1'},
    spec: {},
  });
  const options = {client: clientOf(api, clock), createNode, clock, logger};
  const {isNew} = await registerNode(options, new AbortController().signal);
  expect([isNew, api.storage.get('/api/v1/nodes/n1')?.metadata.name]).toEqual([true, 'n1']);
  expect(clock.sleeps).toEqual([200, 400, 800, 1600]);
});

test('a lease without an owner gets one when it is renewed, which does not wait for the Node', async () => {
  await using api = await FakeApiServer.start();
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  api.storage.put(`${LEASES}/n1`, {
    ...{apiVersion: 'coordination.k8s.io/v1', kind: 'Lease'},
    metadata: {name: 'n1', namespace: 'kube-node-lease'},
  });
  await using _lease = runLease(api, clock);
  await until(() => clock.sleeping === 1);
  expect(leaseWrites(api)).toEqual(['GET 200', 'GET of the Node 404', 'PUT 200']);
  putNode(api);
  await clock.advance(10_000);
  await until(() => clock.sleeping === 1);
  expect(api.storage.get(`${LEASES}/n1`)?.metadata['ownerReferences']).toMatchObject([{uid: 'u1'}]);
});
