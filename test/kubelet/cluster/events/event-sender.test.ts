import {expect, test} from 'vitest';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import type {ApiClient} from '../../../../src/kube-api/index.js';
import {ApiError} from '../../../../src/kube-api/api-error.js';
import {EventSender} from '../../../../src/kubelet/cluster/events/event-sender.js';
import {eventAboutNode, type ObjectEvent} from '../../../../src/kubelet/cluster/events/object-event.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const aNodeEvent = (reason: string): ObjectEvent =>
  eventAboutNode('n1', {type: 'Normal', reason, message: reason});

/** Sends an event to a server whose answers fail with these errors; returns the waits between the requests, in ms. */
async function waitsAfter(errors: readonly Error[], random = 0): Promise<readonly number[]> {
  const clock = new FakeClock({sleep: 'instant'});
  const remaining = [...errors];
  const request = async (): Promise<object> => {
    const error = remaining.shift();
    if (error !== undefined) throw error;
    controller.abort();
    return {};
  };
  const controller = new AbortController();
  const sender = new EventSender({
    ...{client: {request} as unknown as ApiClient, nodeName: 'n1', clock, logger: SILENT_LOGGER},
    random: () => random,
  });
  sender.event(aNodeEvent('Starting'));
  sender.event(aNodeEvent('NodeReady'));
  await sender.run(OPEN, controller.signal).catch(() => undefined);
  return clock.sleeps;
}

const OPEN = {whenOpen: async (): Promise<void> => undefined};

const unreachable = (): Error => new Error('connect ECONNREFUSED');

test('an event is sent again after up to ten seconds, and then every ten seconds', async () => {
  const errors = [unreachable(), unreachable(), unreachable()];
  expect(await waitsAfter(errors, 2 ** 30)).toEqual([2500, 10_000, 10_000]);
});

test('an event that the server refuses is not sent again', async () => {
  expect(await waitsAfter([new ApiError('no', {code: 403, reason: 'Forbidden'})])).toEqual([]);
});
