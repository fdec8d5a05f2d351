import {expect, test} from 'vitest';
import type {RandomSource} from '../../../../src/base/clock.js';
import {
  EventCorrelator,
  type CorrelatedEvent,
} from '../../../../src/kubelet/cluster/events/event-correlator.js';
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

interface TestEvents {
  readonly clock: FakeClock;
  /** Correlates an event that happens now. */
  readonly correlate: (event: ObjectEvent) => CorrelatedEvent | undefined;
  readonly events: EventCorrelator;
}

/** `random` chooses which of ten similar messages is forgotten; the last one by default. */
function correlator(random: RandomSource = () => 2 ** 32 - 1): TestEvents {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const events = new EventCorrelator({host: 'n1', clock, random});
  return {clock, events, correlate: (event) => events.correlate(event, clock.now())};
}

test('an event names its object, its source and its time', () => {
  expect(correlator().correlate(anEvent('failed'))).toMatchObject({
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
  expect(correlator().correlate(event)?.event).toMatchObject({
    metadata: {name: expect.stringMatching(/^n1\.[0-9a-f]+$/) as string, namespace: 'default'},
    involvedObject: {apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n1'},
  });
});

test('a repeated event raises the count of the first one', async () => {
  const {clock, correlate} = correlator();
  const first = correlate(anEvent('failed'));
  await clock.advance(5000);
  const second = correlate(anEvent('failed'));
  expect(second?.patch).toEqual({count: 2, lastTimestamp: '2026-05-01T12:00:05Z', message: 'failed'});
  expect(second?.event).toMatchObject({
    metadata: first?.event.metadata ?? {},
    firstTimestamp: '2026-05-01T12:00:00Z',
  });
  expect(correlate(anEvent('failed', {fieldPath: 'spec.containers{other}'}))?.patch).toBeUndefined();
});

test('the tenth similar event with another message is combined with the next ones', () => {
  const {correlate} = correlator();
  const messages = Array.from({length: 11}, (_, index) => correlate(anEvent(`try ${index}`)));
  expect(messages.slice(0, 9).every((sent) => sent?.patch === undefined)).toBe(true);
  expect(messages[9]?.event.message).toBe('(combined from similar events): try 9');
  expect(messages[10]).toMatchObject({
    event: {message: '(combined from similar events): try 10', count: 2},
    patch: {count: 2, message: '(combined from similar events): try 10'},
  });
});

test('an event that stands for similar ones has no annotations, no reporter and no container', () => {
  const {correlate} = correlator();
  const annotations = {key: 'value'};
  const sent = Array.from({length: 11}, (_, index) =>
    correlate(anEvent(`try ${index}`, {annotations, fieldPath: `spec.containers{${index}}`})),
  );
  expect(sent[8]?.event).toMatchObject({metadata: {annotations}, reportingComponent: 'kubelet'});
  expect(sent[10]?.event).toMatchObject({count: 2, reportingComponent: '', reportingInstance: ''});
  expect(sent[10]?.event.metadata).not.toHaveProperty('annotations');
});

test('a message that was seen before still counts its own event after ten similar messages', () => {
  const {correlate} = correlator(() => 0);
  for (let index = 0; index < 10; index += 1) correlate(anEvent(`try ${index}`));
  expect(correlate(anEvent('try 5'))?.event).toMatchObject({message: 'try 5', count: 2});
  // The tenth message made the correlator forget the first one.
  expect(correlate(anEvent('try 0'))?.event.message).toBe('(combined from similar events): try 0');
});

test('similar messages that are more than ten minutes apart are not combined', async () => {
  const {clock, correlate} = correlator();
  for (let index = 0; index < 9; index += 1) correlate(anEvent(`try ${index}`));
  await clock.advance(600_000);
  expect(correlate(anEvent('within ten minutes'))?.event.message).toMatch(/^\(combined/);
  await clock.advance(600_001);
  expect(correlate(anEvent('later'))?.event.message).toBe('later');
});

test('the time of an event is the one at which it happened', async () => {
  const {clock, events} = correlator();
  await clock.advance(120_000);
  const sent = events.correlate(anEvent('failed'), TEST_TIME_MS);
  expect(sent?.event).toMatchObject({
    firstTimestamp: '2026-05-01T12:00:00Z',
    lastTimestamp: '2026-05-01T12:00:00Z',
  });
});

test('an event about an object with a long name gets a valid name', () => {
  const longest = aPod({}, {name: 'a'.repeat(253), namespace: 'default', uid: 'u1'});
  expect(correlator().correlate(anEvent('failed', {pod: longest}))?.event.metadata.name).toMatch(
    /^[0-9a-f-]{36}$/,
  );
});

test('after 25 events of one type, one with the count of all is sent every five minutes; other types are not affected', async () => {
  const {clock, correlate} = correlator();
  const sent = Array.from({length: 30}, () => correlate(anEvent('failed')));
  expect(sent.filter((event) => event !== undefined)).toHaveLength(25);
  expect(correlate(anEvent('started', {type: 'Normal', reason: 'Started'}))).toBeDefined();
  await clock.advance(300_000);
  expect([correlate(anEvent('failed')), correlate(anEvent('failed'))]).toEqual([
    expect.objectContaining({patch: expect.objectContaining({count: 31}) as object}) as object,
    undefined,
  ]);
});
