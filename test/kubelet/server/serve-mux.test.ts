import {expect, test} from 'vitest';
import {requestAt, startServerTestbed} from './server-testbed.js';

const NOT_FOUND = {status: 404, body: '404 page not found\n'};

/** Answers of kubelet 1.36.2. */
test.each([
  ['/logs', '/logs/'],
  ['/logs?query=x', '/logs/?query=x'],
  ['/runningpods', '/runningpods/'],
  ['/stats', '/stats/'],
  ['/debug/pprof', '/debug/pprof/'],
  ['//pods', '/pods'],
  ['/pods/../healthz', '/healthz'],
  ['/logs/../etc/passwd', '/etc/passwd'],
  ['/containerLogs//web/main', '/containerLogs/web/main'],
])('%s is redirected to %s', async (path, location) => {
  const {request} = await startServerTestbed();
  expect(await request(path)).toMatchObject({
    status: 307,
    headers: {location, 'content-type': 'text/html; charset=utf-8'},
    body: `<a href="${location}">Temporary Redirect</a>.\n\n`,
  });
  expect(await request(path, {method: 'POST'})).toMatchObject({status: 307, body: ''});
});

test.each(['/metrics/nosuch', '/healthz/', '/healthz/nosuch', '/configz/x', '/debug/nosuch'])(
  '%s has no handler',
  async (path) => {
    const {request} = await startServerTestbed();
    expect(await request(path)).toMatchObject(NOT_FOUND);
  },
);

test('other paths below a service have no route', async () => {
  const {request} = await startServerTestbed();
  for (const path of ['/exec', '/exec/default', '/stats/nosuch', '/containerLogs'])
    expect(await request(path)).toMatchObject({status: 404, body: '404: Page Not Found'});
  expect((await request('/pods/')).status).toBe(200);
});

test('disabled endpoints are redirected, too', async () => {
  const {servers} = await startServerTestbed();
  const {readOnly = ''} = servers.urls;
  expect(await requestAt(readOnly, '/logs')).toMatchObject({status: 307, headers: {location: '/logs/'}});
  expect((await requestAt(readOnly, '/logs/')).status).toBe(405);
});
