import {expect, test} from 'vitest';
import {createSelfSignedPair} from '../../../src/format/x509/self-signed-certificate.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {StallingProxy} from '../../fakes/stalling-proxy.js';
import {ClusterTestbed} from './cluster-testbed.js';

const {certificate: cert, key} = createSelfSignedPair({
  commonName: 'api',
  names: ['127.0.0.1'],
  notBeforeMs: 0,
  notAfterMs: 4e12,
});

test('pods arrive and statuses are sent within 30 s after the connection has died silently', async () => {
  await using api = await FakeApiServer.start({tls: {cert, key}, http2: {maxStreams: 250}});
  await using proxy = await StallingProxy.start(api.url);
  await using testbed = await ClusterTestbed.start(undefined, {api, ca: cert, port: proxy.port});
  const {daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  expect(proxy.connections).toBe(1);
  proxy.stall();
  testbed.createPod('other');
  const stalledAt = daemon.clock.now();
  await daemon.until('the pod has arrived', () => daemon.running.includes('other/main/0'));
  expect(daemon.clock.now() - stalledAt).toBeLessThan(30_000);
  await testbed.untilPhase('other', 'Running');
  expect(api.writes.filter((write) => write.startsWith('DELETE /api/v1/namespaces'))).toEqual([]);
  expect(daemon.running).toEqual(['other/main/0', 'web/main/0']);
});
