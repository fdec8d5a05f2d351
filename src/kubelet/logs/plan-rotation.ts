import {compare} from '../../base/compare.js';

/** What becomes of a log's older files before it is rotated once more. Names, in the order in which they are dealt with. */
export interface RotationPlan {
  /** Left over from a rotation that was cut short, or kept as `.gz` as well. */
  readonly unused: readonly string[];
  /** More than may be kept; oldest first, so that who reads them in order isn't disturbed. */
  readonly excess: readonly string[];
  readonly toCompress: readonly string[];
}

const COMPRESSED = '.gz';
const TEMPORARY = '.tmp';

/**
 * What to do before `log` is rotated (container_log_manager.go rotateLog). Of `maxFiles` one is the log that is
 * rotated now and one that which the runtime writes to then; both aren't compressed.
 */
export function planRotation(names: readonly string[], log: string, maxFiles: number): RotationPlan {
  const rotated = names.filter((name) => name.startsWith(`${log}.`)).toSorted(compare);
  const present = new Set(rotated);
  const isUnused = (name: string): boolean =>
    name.endsWith(TEMPORARY) || (!name.endsWith(COMPRESSED) && present.has(compressedName(name)));
  const used = rotated.filter((name) => !isUnused(name));
  const excess = Math.max(0, used.length - Math.max(0, maxFiles - 2));
  return {
    unused: rotated.filter(isUnused),
    excess: used.slice(0, excess),
    toCompress: used.slice(excess).filter((name) => !name.endsWith(COMPRESSED)),
  };
}

/** `0.log.20261121-202405`, in the node's time zone. */
export function rotatedName(log: string, now: number): string {
  const time = new Date(now);
  const date = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return `${log}.${date.map(twoDigits).join('')}-${clock.map(twoDigits).join('')}`;
}

export function compressedName(name: string): string {
  return `${name}${COMPRESSED}`;
}

export function temporaryName(name: string): string {
  return `${name}${TEMPORARY}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
