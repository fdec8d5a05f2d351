import {readFileSync} from 'node:fs';

const ZONE_FILE = '/etc/localtime';

let isSystemUtc: boolean | undefined;

/**
 * How far local time is ahead of UTC, in minutes. Where the zone is UTC, as on most nodes, nobody is asked: what a
 * JavaScript engine knows of zones takes longer to load than a command takes.
 */
export function localOffsetMinutes(date: Date): number {
  return isUtc(process.env['TZ']) ? 0 : -date.getTimezoneOffset();
}

function isUtc(zone: string | undefined): boolean {
  if (zone !== undefined) return zone === 'UTC';
  return (isSystemUtc ??= isUtcZone(zoneFile()));
}

/** Without the file the zone is UTC, see tzset(3); that is left to the engine, which may look elsewhere. */
function zoneFile(): string {
  try {
    return readFileSync(ZONE_FILE, 'latin1');
  } catch {
    return '';
  }
}

/**
 * Whether a zone's file (RFC 9636) is that of a zone that always has been UTC: in its last block there is no
 * transition, and one type whose offset is zero; and none comes after it.
 */
export function isUtcZone(file: string): boolean {
  const block = file.slice(file.lastIndexOf('TZif'));
  return /^TZif[^]{28}\0{4}\0{3}\x01[^]{4}\0{4}\0[^]*\nUTC0\n$/.test(block);
}
