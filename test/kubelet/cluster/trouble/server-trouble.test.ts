import {expect, test} from 'vitest';
import {createSelfSignedPair} from '../../../../src/format/x509/self-signed-certificate.js';
import type {Fault} from '../../../fakes/api-server/api-request.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {countCalls, expectUndisturbed, pass, requestsSince, runPods, startTestbed} from './trouble.js';

const MINUTE_MS = 60_000;
/** Largest number of requests that a node with two pods may send in a minute of trouble. */
const MAX_PER_MINUTE = 60;

/** A fault of all requests. */
interface Trouble {
  readonly fault: Fault;
  /** True if the server answers, so that events are dropped, as by a kubelet. */
  readonly refusesEvents?: boolean;
}

const TROUBLES: readonly (readonly [title: string, Trouble])[] = [
  ['closes every connection', {fault: 'reset'}],
  [
    'answers 500',
    {
      fault: {code: 500, reason: 'InternalError', message: 'etcdserver: no leader'},
      refusesEvents: true,
    },
  ],
  ['answers 503', {fault: {code: 503, reason: 'ServiceUnavailable'}, refusesEvents: true}],
  [
    'answers 401, as with an expired client certificate',
    {fault: {code: 401, reason: 'Unauthorized'}, refusesEvents: true},
  ],
  ['answers 429 and asks to wait for 5 s', {fault: {code: 429, reason: 'TooManyRequests', retryAfter: 5}}],
  ['needs 3 s for every answer', {fault: {delayMs: 3000}}],
];

test.each(TROUBLES)(
  'pods keep running while the API server %s, requests are few, and the status catches up',
  async (_title, {fault, refusesEvents = false}) => {
    await using testbed = await startTestbed();
    const {api, daemon} = testbed;
    await runPods(testbed, 'web', 'other');
    api.inject(() => true, fault);
    // Ends the watches.
    await api.refuse();
    await api.listen();
    const since = daemon.clock.now();
    await pass(testbed, MINUTE_MS);
    daemon.kill('main', 1);
    await daemon.until('the container runs again', () => daemon.running.some((name) => name.endsWith('/1')));
    await pass(testbed, MINUTE_MS);
    const minutes = (daemon.clock.now() - since) / MINUTE_MS;
    expect(requestsSince(testbed, since).length / minutes).toBeLessThan(MAX_PER_MINUTE);
    expect(countCalls(testbed)).toEqual({starts: 3, stops: 0});
    api.clearFaults();
    const restarts = (): number =>
      ['web', 'other'].reduce(
        (sum, name) => sum + (testbed.status(name).containerStatuses?.[0]?.restartCount ?? 0),
        0,
      );
    await daemon.until('the restart is reported', () => restarts() === 1);
    const isReported = (): boolean =>
      testbed.events('Pod').some(({count, reason}) => reason === 'Started' && count > 1);
    if (!refusesEvents) await daemon.until('the event arrives', isReported);
    await runPods(testbed, 'next');
    expect(daemon.maxConcurrentInstances).toBe(1);
  },
);

test('pods keep running while the certificate of the API server is expired', async () => {
  const certificate = (notAfterMs: number): {readonly cert: string; readonly key: string} => {
    const names = ['127.0.0.1', 'localhost'];
    const pair = createSelfSignedPair({commonName: 'api', names, notBeforeMs: 0, notAfterMs});
    return {cert: pair.certificate, key: pair.key};
  };
  const valid = certificate(4e12);
  const expired = certificate(1e12);
  await using api = await FakeApiServer.start({tls: valid});
  await using testbed = await startTestbed({api, ca: valid.cert + expired.cert});
  const {daemon} = testbed;
  await runPods(testbed, 'web');
  await api.renewCertificate(expired);
  const since = daemon.clock.now();
  await daemon.until('the certificate is refused', () =>
    daemon.errors.some((error) => error.includes('certificate has expired')),
  );
  await pass(testbed, 2 * MINUTE_MS);
  expect(requestsSince(testbed, since)).toEqual([]);
  expectUndisturbed(testbed, 'web');
  await api.renewCertificate(valid);
  await runPods(testbed, 'next');
  expectUndisturbed(testbed, 'web', 'next');
});

test('the pauses between attempts differ from node to node', async () => {
  const attempts = async (random: number): Promise<readonly number[]> => {
    await using testbed = await startTestbed({random: () => random});
    await runPods(testbed, 'web');
    testbed.api.inject(() => true, 'reset');
    testbed.api.watches.end();
    const since = testbed.daemon.clock.now();
    await pass(testbed, MINUTE_MS);
    return requestsSince(testbed, since)
      .filter(({path, query}) => path === '/api/v1/pods' && query['watch'] === 'true')
      .map(({at}) => at - since);
  };
  const [first, second] = [await attempts(0), await attempts(2 ** 31)];
  expect(first.length).toBeGreaterThan(second.length);
  expect(first.at(-1)).not.toBe(second.at(-1));
});

test.each([404, 409, 500, 422])(
  'the final deletion of a pod that is answered with %i is tried again',
  async (code) => {
    await using testbed = await startTestbed();
    const {api} = testbed;
    await runPods(testbed, 'web');
    api.inject(({method, path}) => method === 'DELETE' && path.endsWith('/pods/web'), {code}, 2);
    api.deletePod('web');
    await testbed.untilDeleted('web');
  },
);
