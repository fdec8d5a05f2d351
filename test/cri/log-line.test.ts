import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {LineView, parseLine} from '../../src/cri/index.js';

const scan = (text: string): LineView | undefined => {
  const view = new LineView();
  return view.scan(Buffer.from(text), 0, Buffer.byteLength(text)) ? view : undefined;
};

describe('the time of a log line', () => {
  test('is parsed as by JavaScript, in any zone', () => {
    const moments = fc.integer({
      min: Date.parse('1900-01-01T00:00:00Z'),
      max: Date.parse('2199-12-31T23:59:59Z'),
    });
    const zones = fc.constantFrom('Z', '+00:00', '+01:00', '-03:30', '+14:00');
    fc.assert(
      fc.property(moments, zones, (ms, zone) => {
        const time = `${new Date(ms).toISOString().slice(0, 19)}${zone}`;
        expect(scan(`${time} stdout F x\n`)?.seconds).toBe(Date.parse(time) / 1000);
      }),
    );
  });

  test.each([
    ['2026-11-20T14:00:01Z', 0],
    ['2026-11-20T14:00:01.5Z', 500_000_000],
    ['2026-11-20T14:00:01.000000001+01:00', 1],
    ['2026-11-20T14:00:01.1234567899Z', 123_456_789],
  ])('%s has %d nanoseconds', (time, nanos) => {
    expect(scan(`${time} stdout F x\n`)?.nanos).toBe(nanos);
  });

  test.each([
    '2026-13-20T14:00:01Z',
    '2026-02-30T14:00:01Z',
    '2025-02-29T14:00:01Z',
    '2026-11-20T24:00:01Z',
    '2026-11-20T14:60:01Z',
    '2026-11-20T14:00:60Z',
    '2026-11-20T14:00:01.Z',
    '2026-11-20T14:00:01',
    '2026-11-20T14:00:01Zx',
    '2026-11-20 14:00:01Z',
    '20x6-11-20T14:00:01Z',
  ])('%s is rejected', (time) => {
    expect(scan(`${time} stdout F x\n`)).toBeUndefined();
  });
});

describe('a log line', () => {
  test.each([
    ['stdlog F x', undefined],
    ['stdout F', undefined],
    ['stdout', undefined],
    ['stdout F x', 'x'],
    ['stdout F ', ''],
    ['stdout P x', 'x'],
    ['stdout Px x', 'x'],
  ])('"%s" has the content %j', (rest, content) => {
    const line = parseLine(Buffer.from(`2026-11-20T14:00:01Z ${rest}`));
    expect(line === undefined ? undefined : Buffer.from(line.content).toString()).toBe(content);
    expect(line?.partial ?? false).toBe(rest === 'stdout P x');
  });
});
