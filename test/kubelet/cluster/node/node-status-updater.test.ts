import {expect, test} from 'vitest';
import type {Node, NodeCondition, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {ApiClient} from '../../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../../src/kube-api/http-connection.js';
import {
  NodeStatusUpdater,
  type NodeStatusUpdaterOptions,
} from '../../../../src/kubelet/cluster/node/node-status-updater.js';
import {until} from '../../../base/until.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';

const READY: NodeCondition = {
  type: 'Ready',
  status: 'True',
  lastHeartbeatTime: '2026-05-01T12:00:00Z',
  lastTransitionTime: '2026-05-01T12:00:00Z',
};

type Overrides = Partial<NodeStatusUpdaterOptions> & Pick<NodeStatusUpdaterOptions, 'node' | 'computeStatus'>;

/** An updater of the Node n1, which the API server has. */
async function startUpdater(create: (created: Node) => Overrides) {
  const api = await FakeApiServer.start();
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  api.now = () => clock.now();
  const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
  const created = api.create('/api/v1/nodes/n1', {status: {}}) as unknown as Node;
  const updater = new NodeStatusUpdater({
    client: new ApiClient({connection, userAgent: 'kcri', clock}),
    nodeName: 'n1',
    updateMetadata: (metadata) => metadata,
    isReported: () => true,
    onReported: () => undefined,
    updateFrequencyMs: 10_000,
    reportFrequencyMs: 300_000,
    clock,
    random: () => 0,
    logger: SILENT_LOGGER,
    ...create(created),
  });
  const controller = new AbortController();
  const ended = updater.run(controller.signal).catch(() => undefined);
  await until(() => clock.sleeping === 1);
  return {
    ...{api, clock, updater},
    [Symbol.asyncDispose]: async (): Promise<void> => {
      controller.abort();
      await ended;
      await api[Symbol.asyncDispose]();
    },
  };
}

test.each([
  ['does not show it yet', (created: Node): Node => created],
  ['shows an older Node for the first time', (created: Node): Node => ({...created})],
])('a status is sent once although the watch %s', async (_title, showAgain) => {
  const transitions: [NodeStatus, NodeStatus][] = [];
  let computed = 0;
  let watched: Node | undefined;
  await using started = await startUpdater((created) => {
    watched = created;
    return {
      node: () => watched,
      computeStatus: async () => {
        computed += 1;
        return {conditions: [READY]};
      },
      onReported: (before, after) => {
        transitions.push([before, after]);
      },
    };
  });
  const {api, clock, updater} = started;
  watched = showAgain(watched!);
  updater.statusChanged();
  await until(() => computed === 2 && clock.sleeping === 1);
  expect(api.writes).toEqual(['PATCH /api/v1/nodes/n1/status']);
  expect(transitions).toEqual([[{}, {conditions: [READY]}]]);
});

test('an unchanged status is sent half to one and a half periods after a change, and then after each period', async () => {
  await using started = await startUpdater(() => ({
    node: () => undefined,
    computeStatus: async () => ({conditions: [READY]}),
    updateFrequencyMs: 50_000,
  }));
  const {api, clock} = started;
  for (let time = 0; time < 16; time += 1) {
    await clock.advance(50_000);
    await until(() => clock.sleeping === 1);
  }
  const patches = api.requests.filter(({method}) => method === 'PATCH');
  expect(patches.map(({at}) => (at - TEST_TIME_MS) / 1000)).toEqual([0, 150, 450, 750]);
});

test('labels that the node must have are put back', async () => {
  const requiredLabels = {'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64'};
  await using started = await startUpdater((created) => ({
    node: () => ({
      ...created,
      metadata: {...created.metadata, labels: {'kubernetes.io/os': 'plan9', a: 'b'}},
    }),
    updateMetadata: (metadata) => ({...metadata, labels: {...metadata.labels, ...requiredLabels}}),
    computeStatus: async (current) => current.status ?? {},
  }));
  expect(started.api.requests.map(({body}) => body)).toEqual([{metadata: {labels: requiredLabels}}]);
});

test('an unchanged status is sent at each period until the API server is known to have it', async () => {
  let isReported = false;
  await using started = await startUpdater(() => ({
    node: () => undefined,
    computeStatus: async () => ({conditions: [READY]}),
    isReported: () => isReported,
  }));
  const {api, clock} = started;
  for (let time = 0; time < 4; time += 1) {
    isReported = time >= 2;
    await clock.advance(10_000);
    await until(() => clock.sleeping === 1);
  }
  const patches = api.requests.filter(({method}) => method === 'PATCH');
  expect(patches.map(({at}) => (at - TEST_TIME_MS) / 1000)).toEqual([0, 10, 20]);
});
