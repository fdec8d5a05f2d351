import {expect, test} from 'vitest';
import {EventCorrelator} from '../../../../src/kubelet/cluster/events/event-correlator.js';
import {
  eventAboutNode,
  eventAboutPod,
  type ObjectEvent,
} from '../../../../src/kubelet/cluster/events/object-event.js';
import type {PodEvent} from '../../../../src/kubelet/contract/pod-event.js';
import {aPod} from '../../../fakes/a-pod.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';

const POD = aPod({}, {name: 'web', namespace: 'default', uid: 'u1', resourceVersion: '7'});

const anEvent = (message: string, fields: Partial<PodEvent> = {}): ObjectEvent =>
  eventAboutPod({
    ...{type: 'Warning', reason: 'Unhealthy', message, pod: POD, fieldPath: 'spec.containers{main}'},
    ...fields,
  });

function correlator(): {readonly clock: FakeClock; readonly events: EventCorrelator} {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  return {clock, events: new EventCorrelator('n1', clock)};
}

test('an event names its object, its source and its time', () => {
  expect(correlator().events.correlate(anEvent('failed'))).toMatchObject({
    event: {
      metadata: {name: expect.stringMatching(/^web\.[0-9a-f]+$/) as string, namespace: 'default'},
      involvedObject: {
        ...{kind: 'Pod', namespace: 'default', name: 'web', uid: 'u1', apiVersion: 'v1'},
        ...{resourceVersion: '7', fieldPath: 'spec.containers{main}'},
      },
      source: {component: 'kubelet', host: 'n1'},
      ...{count: 1, firstTimestamp: '2026-05-01T12:00:00Z', type: 'Warning'},
    },
    patch: undefined,
  });
});

test('an event about a node is in the namespace default and has the name of the node as its UID', () => {
  const event = eventAboutNode('n1', {type: 'Normal', reason: 'Starting', message: 'Starting kubelet.'});
  expect(correlator().events.correlate(event)?.event).toMatchObject({
    metadata: {name: expect.stringMatching(/^n1\.[0-9a-f]+$/) as string, namespace: 'default'},
    involvedObject: {apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n1'},
  });
});

test('a repeated event raises the count of the first one', async () => {
  const {clock, events} = correlator();
  const first = events.correlate(anEvent('failed'));
  await clock.advance(5000);
  const second = events.correlate(anEvent('failed'));
  expect(second?.patch).toEqual({count: 2, lastTimestamp: '2026-05-01T12:00:05Z'});
  expect(second?.event.metadata).toEqual(first?.event.metadata);
  expect(events.correlate(anEvent('failed', {fieldPath: 'spec.containers{other}'}))?.patch).toBeUndefined();
});

test('the tenth similar event with another message is combined with the next ones', () => {
  const {events} = correlator();
  const messages = Array.from({length: 11}, (_, index) => events.correlate(anEvent(`try ${index}`)));
  expect(messages.slice(0, 9).every((sent) => sent?.patch === undefined)).toBe(true);
  expect(messages[9]?.event.message).toBe('(combined from similar events): try 9');
  expect(messages[10]).toMatchObject({
    event: {message: '(combined from similar events): try 10', count: 2},
    patch: {count: 2, message: '(combined from similar events): try 10'},
  });
});

test('after 25 events of one type, one is sent every five minutes; other types are not affected', async () => {
  const {clock, events} = correlator();
  const sent = Array.from({length: 30}, () => events.correlate(anEvent('failed')));
  expect(sent.filter((event) => event !== undefined)).toHaveLength(25);
  expect(events.correlate(anEvent('started', {type: 'Normal', reason: 'Started'}))).toBeDefined();
  await clock.advance(300_000);
  expect([events.correlate(anEvent('failed')), events.correlate(anEvent('failed'))]).toEqual([
    expect.objectContaining({patch: expect.objectContaining({count: 26}) as object}) as object,
    undefined,
  ]);
});
