import {describe, expect, test} from 'vitest';
import {TokenBucket} from '../../../../src/base/async/token-bucket.js';
import {ApiClient} from '../../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../../src/kube-api/http-connection.js';
import {ConnectionMetrics} from '../../../../src/kubelet/managers/metrics/connection-metrics.js';
import {formatExposition} from '../../../../src/kubelet/managers/metrics/exposition.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {CLUSTER_DASHBOARD_METRICS} from './dashboard-metrics.js';
import {parseExposition, parseFamilies, type ParsedSample} from './parse-exposition.js';

const NEVER = new AbortController().signal;

function samplesOf(metrics: ConnectionMetrics, name: string): readonly ParsedSample[] {
  return parseExposition(formatExposition(metrics.families())).filter((sample) => sample.name === name);
}

function clientOf(api: FakeApiServer, metrics: ConnectionMetrics, clock: FakeClock): ApiClient {
  const url = new URL(api.url);
  const connection = new HttpConnection(url, {
    current: async () => ({tls: {rejectUnauthorized: true}, token: undefined}),
  });
  return new ApiClient({
    ...{connection, userAgent: 'kcri/1', clock, observer: metrics.restClient.observe(url.host)},
    limiter: new TokenBucket({perSecond: 1, burst: 1}, clock),
  });
}

describe('requests to the API server', () => {
  test('are counted by code, timed and measured', async () => {
    await using api = await FakeApiServer.start();
    const clock = new FakeClock({sleep: 'instant'});
    const metrics = new ConnectionMetrics(clock);
    const client = clientOf(api, metrics, clock);
    const {host} = new URL(api.url);
    const body = {apiVersion: 'v1', kind: 'Node', metadata: {name: 'a'}};
    await client.request({method: 'POST', path: '/api/v1/nodes', body}, NEVER);
    await client.request({method: 'GET', path: '/api/v1/nodes/b'}, NEVER).catch(() => undefined);
    const requests = samplesOf(metrics, 'rest_client_requests_total');
    expect(requests.map(({labels, value}) => ({...labels, value}))).toEqual([
      {code: '201', method: 'POST', host, value: 1},
      {code: '404', method: 'GET', host, value: 1},
    ]);
    const counts = samplesOf(metrics, 'rest_client_request_duration_seconds_count');
    expect(counts.map(({labels, value}) => ({...labels, value}))).toEqual([
      {verb: 'GET', host, value: 1},
      {verb: 'POST', host, value: 1},
    ]);
    expect(samplesOf(metrics, 'rest_client_rate_limiter_duration_seconds_count')).toHaveLength(2);
    const [sent] = samplesOf(metrics, 'rest_client_request_size_bytes_sum');
    expect(sent?.value).toBe(JSON.stringify(body).length);
    expect(samplesOf(metrics, 'rest_client_response_size_bytes_count')).toHaveLength(2);
  });

  test('without a response are errors', async () => {
    const api = await FakeApiServer.start();
    const clock = new FakeClock({sleep: 'instant'});
    const metrics = new ConnectionMetrics(clock);
    const client = clientOf(api, metrics, clock);
    await api[Symbol.asyncDispose]();
    await expect(client.request({method: 'GET', path: '/api/v1/nodes/a'}, NEVER)).rejects.toThrow();
    const [failed] = samplesOf(metrics, 'rest_client_requests_total');
    expect(failed).toMatchObject({labels: {code: '<error>', method: 'GET'}, value: 1});
  });
});

describe('certificates', () => {
  test('that are not managed have no metrics', () => {
    const metrics = new ConnectionMetrics(new FakeClock());
    expect(formatExposition(metrics.families())).not.toMatch(/certificate|expiration/);
  });

  test('have the time that is left, failures, and the age of the last one', () => {
    const clock = new FakeClock();
    const metrics = new ConnectionMetrics(clock);
    const client = metrics.certificates.observe('client');
    const server = metrics.certificates.observe('server');
    const [ttl] = samplesOf(metrics, 'kubelet_certificate_manager_server_ttl_seconds');
    expect(ttl?.value).toBe(Infinity);
    client.replaced(clock.now() + 90_500, undefined);
    server.failed();
    server.replaced(clock.now() - 2000, 7_200_000);
    const value = (name: string): number | undefined => samplesOf(metrics, name)[0]?.value;
    expect(value('kubelet_certificate_manager_client_ttl_seconds')).toBe(90);
    expect(value('kubelet_certificate_manager_server_ttl_seconds')).toBe(-2);
    expect(value('kubelet_certificate_manager_client_expiration_renew_errors')).toBe(0);
    expect(value('kubelet_server_expiration_renew_errors')).toBe(1);
    expect(value('kubelet_certificate_manager_server_rotation_seconds_sum')).toBe(7200);
  });
});

test('the metrics of a joined kubelet that dashboards use have their types and labels', () => {
  const metrics = new ConnectionMetrics(new FakeClock());
  const observer = metrics.restClient.observe('api:6443');
  observer.responded({method: 'GET', status: 200, requestBytes: 0});
  observer.ended('GET', 5);
  metrics.certificates.observe('client').replaced(0, undefined);
  metrics.certificates.observe('server').replaced(0, undefined);
  const families = parseFamilies(formatExposition(metrics.families()));
  for (const {name, type, labels} of CLUSTER_DASHBOARD_METRICS) {
    const family = families.find((each) => each.name === name);
    const keys = Object.keys(family?.samples[0]?.labels ?? {}).filter((label) => label !== 'le');
    expect({name, type: family?.type, labels: keys.toSorted()}).toEqual({name, type, labels});
  }
});
