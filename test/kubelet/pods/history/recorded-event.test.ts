import {describe, expect, test} from 'vitest';
import {
  correlateEvent,
  MAX_EVENTS,
  type RecordedEvent,
} from '../../../../src/kubelet/pods/history/recorded-event.js';

const START = Date.parse('2026-05-01T12:00:00Z');

/** Correlates these events in order, a second apart by default. */
function correlateAll(
  events: readonly (Partial<RecordedEvent> & {readonly afterSeconds?: number})[],
): readonly RecordedEvent[] {
  let now = START;
  return events.reduce<readonly RecordedEvent[]>((list, {afterSeconds = 1, ...event}) => {
    now += afterSeconds * 1000;
    return correlateEvent(list, {type: 'Normal', reason: 'Pulled', message: 'pulled', ...event}, now);
  }, []);
}

const counts = (events: readonly RecordedEvent[]): readonly string[] =>
  events.map(({message, count}) => `${count} ${message}`);

describe('correlateEvent', () => {
  test('increments the count of an equal event and keeps its first timestamp', () => {
    const events = correlateAll([{}, {afterSeconds: 60}]);
    expect(events).toEqual([
      {
        type: 'Normal',
        reason: 'Pulled',
        message: 'pulled',
        count: 2,
        firstTimestamp: '2026-05-01T12:00:01.000Z',
        lastTimestamp: '2026-05-01T12:01:01.000Z',
      },
    ]);
  });

  test.each([
    ['type', {type: 'Warning'}],
    ['reason', {reason: 'Pulling'}],
    ['message', {message: 'other'}],
    ['container', {fieldPath: 'spec.containers{b}'}],
  ] as const)('does not merge events that differ in their %s', (_, other) => {
    expect(correlateAll([{}, other])).toHaveLength(2);
  });

  test('moves a repeated event to the end', () => {
    expect(counts(correlateAll([{message: 'a'}, {message: 'b'}, {message: 'a'}]))).toEqual(['1 b', '2 a']);
  });

  test('combines the tenth and later messages of a reason within ten minutes into one event', () => {
    const events = correlateAll(Array.from({length: 12}, (_, index) => ({message: `m${index}`})));
    expect(counts(events)).toEqual([
      ...Array.from({length: 9}, (_, index) => `1 m${index}`),
      '3 (combined from similar events): m11',
    ]);
  });

  test('does not combine messages of a reason that arrive slowly', () => {
    const events = correlateAll(
      Array.from({length: 12}, (_, index) => ({message: `m${index}`, afterSeconds: 90})),
    );
    expect(events).toHaveLength(12);
  });

  test('keeps only the newest events', () => {
    const reasons = Array.from({length: MAX_EVENTS + 5}, (_, index) => ({reason: `R${index}`}));
    const events = correlateAll(reasons);
    expect([events.length, events[0]!.reason]).toEqual([MAX_EVENTS, 'R5']);
  });

  test('truncates a message to 8192 characters', () => {
    expect(correlateAll([{message: 'x'.repeat(10_000)}])[0]!.message).toHaveLength(8192);
  });
});
