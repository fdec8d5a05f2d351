import {compare} from '../../../base/compare.js';

/** Actions for the rotated files of a log before the next rotation, as file names in processing order. */
export interface LogRotationActions {
  /** Temporary files of an interrupted rotation, and files that also exist compressed. */
  readonly unused: readonly string[];
  /** Files beyond the limit, oldest first, so that readers in order are not affected. */
  readonly excess: readonly string[];
  readonly toCompress: readonly string[];
}

const COMPRESSED = '.gz';
const TEMPORARY = '.tmp';

/**
 * Computes the actions before `log` is rotated (container_log_manager.go rotateLog). `maxFiles` includes the log to
 * rotate and the new one that the runtime writes next; both are not compressed.
 */
export function computeLogRotation(
  names: readonly string[],
  log: string,
  maxFiles: number,
): LogRotationActions {
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

/** Returns the name of a rotated log, such as `0.log.20261121-202405`, in the node's time zone. */
export function rotatedLogName(log: string, now: number): string {
  const time = new Date(now);
  const date = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return `${log}.${date.map(twoDigits).join('')}-${clock.map(twoDigits).join('')}`;
}

/** Returns the name of the compressed form of a file. */
export function compressedName(name: string): string {
  return `${name}${COMPRESSED}`;
}

/** Returns the name of the temporary file for compression. */
export function temporaryName(name: string): string {
  return `${name}${TEMPORARY}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
