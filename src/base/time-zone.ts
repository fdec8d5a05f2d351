import {readFileSync} from 'node:fs';

const ZONE_FILE = '/etc/localtime';

let isSystemUtc: boolean | undefined;

/**
 * Returns how far local time is ahead of UTC, in minutes. If the zone is UTC, as on most nodes, the JavaScript engine
 * is not asked: loading its time zone data takes longer than a command.
 */
export function localOffsetMinutes(date: Date): number {
  return isUtc(process.env['TZ']) ? 0 : -date.getTimezoneOffset();
}

function isUtc(zone: string | undefined): boolean {
  if (zone !== undefined) return zone === 'UTC';
  return (isSystemUtc ??= isUtcZone(zoneFile()));
}

/** Returns the content of the zone file; empty if it cannot be read, in which case the engine determines the zone. */
function zoneFile(): string {
  try {
    return readFileSync(ZONE_FILE, 'latin1');
  } catch {
    return '';
  }
}

/**
 * Reports whether a zone file (RFC 9636) describes a zone that has always been UTC: its last block has no transition
 * and one type with offset zero, and its footer is UTC0.
 */
export function isUtcZone(file: string): boolean {
  const block = file.slice(file.lastIndexOf('TZif'));
  return /^TZif[^]{28}\0{4}\0{3}\x01[^]{4}\0{4}\0[^]*\nUTC0\n$/.test(block);
}
