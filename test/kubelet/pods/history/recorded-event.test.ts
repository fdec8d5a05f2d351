import {describe, expect, test} from 'vitest';
import {
  correlateEvent,
  MAX_EVENTS,
  type RecordedEvent,
} from '../../../../src/kubelet/pods/history/recorded-event.js';

const START = Date.parse('2026-05-01T12:00:00Z');

/** One after the other, a second apart unless told otherwise. */
function happened(
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

describe('correlate', () => {
  test('counts the same event up, and keeps when it happened first', () => {
    const events = happened([{}, {afterSeconds: 60}]);
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
  ] as const)('tells events apart by their %s', (_, other) => {
    expect(happened([{}, other])).toHaveLength(2);
  });

  test('what happened last stands last, also when it happened before', () => {
    expect(counts(happened([{message: 'a'}, {message: 'b'}, {message: 'a'}]))).toEqual(['1 b', '2 a']);
  });

  test('the tenth message of a reason within ten minutes and those after it become one event', () => {
    const events = happened(Array.from({length: 12}, (_, index) => ({message: `m${index}`})));
    expect(counts(events)).toEqual([
      ...Array.from({length: 9}, (_, index) => `1 m${index}`),
      '3 (combined from similar events): m11',
    ]);
  });

  test('messages of one reason that come slowly stay apart', () => {
    const events = happened(
      Array.from({length: 12}, (_, index) => ({message: `m${index}`, afterSeconds: 90})),
    );
    expect(events).toHaveLength(12);
  });

  test('only the last events are kept', () => {
    const reasons = Array.from({length: MAX_EVENTS + 5}, (_, index) => ({reason: `R${index}`}));
    const events = happened(reasons);
    expect([events.length, events[0]!.reason]).toEqual([MAX_EVENTS, 'R5']);
  });

  test('a message is kept as far as 8192 characters', () => {
    expect(happened([{message: 'x'.repeat(10_000)}])[0]!.message).toHaveLength(8192);
  });
});
