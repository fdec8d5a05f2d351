import {request as httpsRequest} from 'node:https';
import {once} from 'node:events';
import {gunzipSync} from 'node:zlib';
import {buffer} from 'node:stream/consumers';
import type {IncomingMessage} from 'node:http';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {until} from '../../../base/until.js';
import {readPprof, type ReadProfile} from '../profiling/read-pprof.js';
import {startServerTestbed, type ServerTestbed} from '../server-testbed.js';

/** Requests a profile and reads it. */
async function readProfile({servers}: ServerTestbed, path: string): Promise<ReadProfile> {
  const request = httpsRequest(`${servers.urls.main ?? ''}${path}`, {
    rejectUnauthorized: false,
    agent: false,
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const body = await buffer(response);
  expect(response.statusCode, body.toString()).toBe(200);
  expect(response.headers).toMatchObject({'content-type': 'application/octet-stream'});
  return readPprof(gunzipSync(body));
}

function burnProcessor(): number {
  let sum = 0;
  for (const end = performance.now() + 50; performance.now() < end;) sum += Math.sqrt(sum + 1);
  return sum;
}

const kept: object[] = [];

function allocateObjects(): void {
  for (let index = 0; index < 20_000; index++) kept.push({index, text: `object ${index}`});
}

/** Repeats the work until the other is done. */
async function whileBusy<T>(work: () => unknown, other: Promise<T>): Promise<T> {
  const state = {isDone: false};
  const done = other.finally(() => {
    state.isDone = true;
  });
  while (!state.isDone) {
    work();
    await nextTurn();
  }
  return await done;
}

const hasFrame = ({samples}: ReadProfile, name: string): boolean =>
  samples.some(({stack}) => stack.some((frame) => frame.startsWith(`${name} `)));

describe('/debug/pprof/', () => {
  test('records a CPU profile', async () => {
    const testbed = await startServerTestbed();
    const profile = await whileBusy(burnProcessor, readProfile(testbed, '/debug/pprof/profile?seconds=1'));
    expect(profile).toMatchObject({sampleTypes: ['samples/count', 'cpu/nanoseconds']});
    // V8 inlines the function that it calls.
    expect(hasFrame(profile, 'whileBusy')).toBe(true);
    expect(profile.durationNanos).toBeGreaterThanOrEqual(1e9);
  });

  test.each([
    ['heap', 'inuse_space'],
    ['heap', 'inuse_space', '&gc=1'],
    ['allocs', 'alloc_space'],
  ])('records a profile %s with %s', async (name, type, query = '') => {
    const testbed = await startServerTestbed();
    const path = `/debug/pprof/${name}?seconds=1${query}`;
    const profile = await whileBusy(allocateObjects, readProfile(testbed, path));
    kept.length = 0;
    expect(profile).toMatchObject({sampleTypes: [`${type}/bytes`], period: 524_288});
    expect(hasFrame(profile, 'allocateObjects')).toBe(true);
    expect(profile.comments.join()).toMatch(/heap used \d+/);
  });

  test('one client at a time records a CPU profile, until it disconnects', async () => {
    const testbed = await startServerTestbed();
    const first = httpsRequest(`${testbed.servers.urls.main ?? ''}/debug/pprof/profile?seconds=600`, {
      ...{rejectUnauthorized: false, agent: false},
    });
    first.on('error', () => undefined);
    first.end();
    const second = async () => await testbed.request('/debug/pprof/profile?seconds=1');
    await until(async () => (await second()).status === 500);
    expect(await second()).toMatchObject({
      headers: {'x-go-pprof': '1'},
      body: 'Could not enable CPU profiling: cpu profiling already in use\n',
    });
    first.destroy();
    await until(async () => (await second()).status === 200);
  });

  test.each([
    ['goroutine', 'goroutine/count', /^TCP\w+ :0$/m],
    ['threadcreate', 'threadcreate/count', /^\S+ :0$/m],
    ['block', 'contentions/count', /^$/],
    ['mutex', 'contentions/count', /^$/],
  ])('shows %s at once', async (name, type, frames) => {
    const testbed = await startServerTestbed();
    const {sampleTypes, samples} = await readProfile(testbed, `/debug/pprof/${name}`);
    expect(sampleTypes).toEqual([type]);
    expect(samples.flatMap(({stack}) => stack).join('\n')).toMatch(frames);
    const {headers, body} = await testbed.request(`/debug/pprof/${name}?debug=2`);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toMatch(new RegExp(`^${name} profile: total \\d+ \\(${type}\\)$`, 'm'));
  });

  test.each([
    ['nope', 404, 'Unknown profile\n'],
    ['heap/x', 404, 'Unknown profile\n'],
    ['constructor', 404, 'Unknown profile\n'],
    ['trace', 404, 'trace is not available: kcri runs on Node.js and not on Go\n'],
    ['goroutine?seconds=1', 400, '"seconds" parameter is not supported for this profile type\n'],
    ['heap?seconds=0', 400, 'invalid value for "seconds" - must be a positive integer\n'],
    ['allocs?seconds=x', 400, 'invalid value for "seconds" - must be a positive integer\n'],
    ['profile?seconds=601', 400, 'invalid value for "seconds" - must be at most 600\n'],
    ['heap?seconds=99999999999999999999', 400, 'invalid value for "seconds" - must be at most 600\n'],
  ])('%s is answered with %i', async (name, status, body) => {
    const {request} = await startServerTestbed();
    const headers = {'x-go-pprof': '1'};
    expect(await request(`/debug/pprof/${name}`)).toMatchObject({status, headers, body});
  });

  test('shows the command line with the flags of the kubelet, and no symbols', async () => {
    const program = {version: '1', flags: {v: '4', 'manifest-url-header': 'a:***'}};
    const {request} = await startServerTestbed({options: {program}});
    expect((await request('/debug/pprof/cmdline')).body).toBe('kubelet\0--v=4\0--manifest-url-header=a:***');
    expect((await request('/debug/pprof/symbol')).body).toBe('num_symbols: 0\n');
  });

  test('lists the profiles, with links that are relative to its path', async () => {
    const {request} = await startServerTestbed();
    expect(await request('/debug/pprof')).toMatchObject({status: 307, headers: {location: '/debug/pprof/'}});
    const {status, headers, body} = await request('/debug/pprof/');
    expect({status, type: headers['content-type']}).toEqual({status: 200, type: 'text/html; charset=utf-8'});
    expect([...body.matchAll(/href="(\w+)\?/g)].map(([, name]) => name)).toEqual(
      'allocs block cmdline goroutine heap mutex profile symbol threadcreate trace'.split(' '),
    );
  });

  test('refuses other methods', async () => {
    const {request} = await startServerTestbed();
    expect(await request('/debug/pprof/symbol', {method: 'POST'})).toMatchObject({
      ...{status: 405, headers: {allow: 'GET'}},
    });
  });

  test('is refused if enableProfilingHandler is false', async () => {
    const {request} = await startServerTestbed({options: {profilingHandler: false}});
    expect(await request('/debug/pprof/heap')).toMatchObject({
      status: 405,
      body: 'profiling endpoint is disabled.\n',
    });
  });
});
