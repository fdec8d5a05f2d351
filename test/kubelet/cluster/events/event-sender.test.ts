import {expect, test} from 'vitest';
import type {ApiClient, ApiRequest} from '../../../../src/kube-api/api-client.js';
import {ApiError} from '../../../../src/kube-api/api-error.js';
import type {ApiEvent} from '../../../../src/kubelet/cluster/events/event-correlator.js';
import {EventSender} from '../../../../src/kubelet/cluster/events/event-sender.js';
import {eventAboutNode, type ObjectEvent} from '../../../../src/kubelet/cluster/events/object-event.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const aNodeEvent = (reason: string): ObjectEvent =>
  eventAboutNode('n1', {type: 'Normal', reason, message: reason});

/** What happened until an event was sent. */
interface Sent {
  /** Waits between the requests, in ms. */
  readonly waits: readonly number[];
  /** Messages that were logged as errors. */
  readonly errors: readonly string[];
  readonly requests: readonly ApiRequest[];
}

/** Sends two events to a server whose first answers fail with these errors. */
async function sendAfter(failures: readonly Error[], random = 0): Promise<Sent> {
  const clock = new FakeClock({sleep: 'instant'});
  const remaining = [...failures];
  const requests: ApiRequest[] = [];
  const request = async (sent: ApiRequest): Promise<object> => {
    requests.push(sent);
    const error = remaining.shift();
    if (error !== undefined) throw error;
    if (requests.length > failures.length + 1) controller.abort();
    return {};
  };
  const controller = new AbortController();
  const errors: string[] = [];
  const logger = fakeLogger({info: () => undefined, error: (_error, message) => void errors.push(message)});
  const sender = new EventSender({
    ...{client: {request} as unknown as ApiClient, nodeName: 'n1', clock, logger},
    random: () => random,
  });
  sender.event(aNodeEvent('Starting'));
  sender.event(aNodeEvent('NodeReady'));
  sender.event(aNodeEvent('Last'));
  await sender.run(OPEN, controller.signal).catch(() => undefined);
  return {waits: clock.sleeps, errors, requests};
}

const OPEN = {whenOpen: async (): Promise<void> => undefined};

const unreachable = (): Error => new Error('connect ECONNREFUSED');

test('an event is sent again after up to ten seconds, and then every ten seconds', async () => {
  const failures = [unreachable(), unreachable(), unreachable()];
  expect((await sendAfter(failures, 2 ** 30)).waits).toEqual([2500, 10_000, 10_000]);
});

test('an event that waited for the server has the time at which it happened', async () => {
  const {requests} = await sendAfter([unreachable(), unreachable(), unreachable()]);
  const times = new Set(requests.map(({body}) => (body as ApiEvent).firstTimestamp));
  expect(times.size).toBe(1);
});

test('an event that the server refuses is not sent again', async () => {
  const forbidden = new ApiError('no', {code: 403, reason: 'Forbidden'});
  const {waits, errors} = await sendAfter([forbidden]);
  expect({waits, errors}).toEqual({waits: [], errors: ['Server rejected event (will not retry!)']});
});

test('an event is dropped after twelve attempts', async () => {
  const {errors, waits} = await sendAfter(Array.from({length: 12}, unreachable));
  expect(waits).toHaveLength(11);
  expect(errors.at(-1)).toBe('Unable to write event (retry limit exceeded!)');
});

test('that the namespace of an event is being deleted is no error', async () => {
  const causes = [{reason: 'NamespaceTerminating'}];
  const terminating = new ApiError('no', {code: 403, reason: 'Forbidden', details: {causes}});
  expect((await sendAfter([terminating])).errors).toEqual([]);
});
