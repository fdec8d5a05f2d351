import {afterEach, expect, test} from 'vitest';
import {isUtcZone, localOffsetMinutes} from '../../src/base/time-zone.js';

const TZ = process.env['TZ'];
afterEach(() => {
  if (TZ === undefined) delete process.env['TZ'];
  else process.env['TZ'] = TZ;
});

test.each([
  ['UTC', 0],
  ['Europe/Berlin', 120],
  ['America/St_Johns', -150],
  ['Asia/Kathmandu', 345],
])('in %s the offset equals that of the JavaScript engine', (zone, minutes) => {
  process.env['TZ'] = zone;
  const summer = new Date('2026-07-01T12:00:00Z');
  expect(localOffsetMinutes(summer)).toBe(minutes);
  expect(localOffsetMinutes(summer)).toBe(-summer.getTimezoneOffset() + 0);
});

/** Returns a zone file (RFC 9636) with an empty first block, as in tzdata. */
function zoneFile({transitions = 0, offset = 0, footer = 'UTC0'}): string {
  const block = (times: number, bytes: number, utOffset: number): Buffer => {
    const header = Buffer.alloc(44);
    header.write('TZif2');
    header.writeUInt32BE(times, 32);
    header.writeUInt32BE(1, 36);
    header.writeUInt32BE(4, 40);
    const type = Buffer.alloc(6);
    type.writeInt32BE(utOffset);
    return Buffer.concat([header, Buffer.alloc(times * (bytes + 1)), type, Buffer.from('UTC\0')]);
  };
  const blocks = [block(0, 4, 0), block(transitions, 8, offset), Buffer.from(`\n${footer}\n`)];
  return Buffer.concat(blocks).toString('latin1');
}

test.each([
  ['is UTC', {}, true],
  ['had another offset in the past', {transitions: 1}, false],
  ['has another offset now', {offset: 3600, footer: '<+01>-1'}, false],
  ['will have another offset', {footer: 'CET-1CEST,M3.5.0,M10.5.0/3'}, false],
])('the file of a zone that %s', (_, zone, expected) => {
  expect(isUtcZone(zoneFile(zone))).toBe(expected);
});

test.each([
  ['missing', ''],
  ['not a zone file', 'UTC0\n'],
  ['truncated', 'TZif2'],
])('a file that is %s is not that of UTC', (_, file) => {
  expect(isUtcZone(file)).toBe(false);
});
