import {expect, test} from 'vitest';
import type {Node, NodeCondition, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {ApiClient} from '../../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../../src/kube-api/http-connection.js';
import {NodeStatusUpdater} from '../../../../src/kubelet/cluster/node/node-status-updater.js';
import {until} from '../../../base/until.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';

const READY: NodeCondition = {
  type: 'Ready',
  status: 'True',
  lastHeartbeatTime: '2026-05-01T12:00:00Z',
  lastTransitionTime: '2026-05-01T12:00:00Z',
};

test.each([
  ['does not show it yet', (created: Node): Node => created],
  ['shows an older Node for the first time', (created: Node): Node => ({...created})],
])('a status is sent once although the watch %s', async (_title, showAgain) => {
  await using api = await FakeApiServer.start();
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
  const created = api.create('/api/v1/nodes/n1', {status: {}}) as unknown as Node;
  let watched = created;
  const transitions: [NodeStatus, NodeStatus][] = [];
  let computed = 0;
  const updater = new NodeStatusUpdater({
    client: new ApiClient({connection, userAgent: 'kcri', clock}),
    nodeName: 'n1',
    node: () => watched,
    computeStatus: async () => {
      computed += 1;
      return {conditions: [READY]};
    },
    updateMetadata: (metadata) => metadata,
    onReported: (before, after) => {
      transitions.push([before, after]);
    },
    updateFrequencyMs: 10_000,
    reportFrequencyMs: 300_000,
    clock,
    random: () => 0,
    logger: SILENT_LOGGER,
  });
  const controller = new AbortController();
  const ended = updater.run(controller.signal).catch(() => undefined);
  await until(() => clock.sleeping === 1);
  watched = showAgain(created);
  updater.statusChanged();
  await until(() => computed === 2 && clock.sleeping === 1);
  expect(api.writes).toEqual(['PATCH /api/v1/nodes/n1/status']);
  expect(transitions).toEqual([[{}, {conditions: [READY]}]]);
  controller.abort();
  await ended;
});
