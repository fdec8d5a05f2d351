import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {requestAt, startServerTestbed} from '../server-testbed.js';

test.each([
  ['/healthz', 200],
  ['/healthz/ping', 200],
  ['/healthz/log', 404],
  ['/healthz/syncloop', 404],
])('%s is ok on the main and the read-only port, and %i on the health port', async (path, status) => {
  const {request, servers} = await startServerTestbed();
  expect(await request(path)).toMatchObject({status: 200, body: 'ok'});
  expect(await requestAt(servers.urls.readOnly ?? '', path)).toMatchObject({status: 200, body: 'ok'});
  expect(await requestAt(servers.urls.health ?? '', path)).toMatchObject({status});
});

test('the health port is ok while the sync loop is stuck', async () => {
  const {servers, kubelet} = await startServerTestbed();
  kubelet.lastActiveAt = 0;
  expect(await requestAt(servers.urls.health ?? '', '/healthz?verbose')).toMatchObject({
    status: 200,
    body: '[+]ping ok\nhealthz check passed\n',
  });
});

test('the sync loop check fails after five minutes without activity', async () => {
  const {request, kubelet} = await startServerTestbed();
  kubelet.lastActiveAt = systemClock.monotonic() - 299_000;
  expect((await request('/healthz/syncloop')).status).toBe(200);
  kubelet.lastActiveAt = systemClock.monotonic() - 301_000;
  expect(await request('/healthz/syncloop')).toMatchObject({
    status: 500,
    body: 'internal server error: sync Loop took longer than expected\n',
  });
  expect(await request('/healthz')).toMatchObject({
    status: 500,
    body: '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n',
  });
  expect((await request('/healthz?exclude=syncloop')).status).toBe(200);
});

test('the sync loop check allows two sync periods if they are longer', async () => {
  const {request, kubelet} = await startServerTestbed({options: {syncFrequencyMs: 600_000}});
  kubelet.lastActiveAt = systemClock.monotonic() - 1_100_000;
  expect((await request('/healthz/syncloop')).status).toBe(200);
});

test('the checks of managers follow the others', async () => {
  const failures: string[] = [];
  const {request} = await startServerTestbed({
    healthChecks: [{name: 'device-plugin', failure: () => failures[0]}],
  });
  expect(await request('/healthz/device-plugin')).toMatchObject({status: 200, body: 'ok'});
  failures.push('device registration error: x');
  expect(await request('/healthz/device-plugin')).toMatchObject({
    status: 500,
    body: 'internal server error: device registration error: x\n',
  });
  expect((await request('/healthz')).body).toBe(
    '[+]ping ok\n[+]log ok\n[+]syncloop ok\n[-]device-plugin failed: reason withheld\nhealthz check failed\n',
  );
});

test('a verbose response lists each check', async () => {
  const {request} = await startServerTestbed();
  expect((await request('/healthz?verbose')).body).toBe(
    '[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n',
  );
});

test('a verbose response lists excluded checks, and those that do not exist', async () => {
  const {request} = await startServerTestbed();
  expect((await request('/healthz?verbose&exclude=log&exclude=b&exclude=a')).body).toBe(
    '[+]ping ok\n[+]log excluded: ok\n[+]syncloop ok\n' +
      'warn: some health checks cannot be excluded: no matches for "a","b"\nhealthz check passed\n',
  );
});

test('the health port serves nothing else', async () => {
  const {servers} = await startServerTestbed();
  expect(await requestAt(servers.urls.health ?? '', '/pods')).toMatchObject({status: 404});
});
