import {basename, dirname} from 'node:path';
import {childPath} from '../../base/fs/child-path.js';
import {ifPresent} from '../../base/fs/files.js';
import {LOCAL_LOG_FILES, type LogFiles} from './log-files.js';

/** Suffix that the kubelet or Docker adds to a rotated log; either file may be gzipped. */
const ROTATED = /^\.(?:(\d{8}-\d{6})|(\d{1,6}))(\.gz)?$/;

interface Rotated {
  readonly path: string;
  readonly order: number;
  readonly gzipped: boolean;
}

/**
 * Returns the rotated files of a log, the oldest first: the kubelet's `0.log.20261120-140000` and Docker's `….log.1`,
 * beside the path and beside the file it links to. Omits a gzipped file if the plain one still exists.
 */
export async function listRotatedSegments(
  path: string,
  files: LogFiles = LOCAL_LOG_FILES,
): Promise<readonly string[]> {
  const resolve = async (to: string): Promise<string> => (await ifPresent(() => files.realpath(to))) ?? to;
  const beside = new Set([childPath(await resolve(dirname(path)), basename(path)), await resolve(path)]);
  const found = await Promise.all([...beside].map(async (log) => await rotatedBeside(log, files)));
  return found.flat();
}

async function rotatedBeside(path: string, files: LogFiles): Promise<readonly string[]> {
  const names = (await ifPresent(() => files.list(dirname(path)))) ?? [];
  const name = basename(path);
  const rotated = names.flatMap((entry) => {
    const [, timestamp, number, gzip] = entry.startsWith(name)
      ? (ROTATED.exec(entry.slice(name.length)) ?? [])
      : [];
    if (timestamp === undefined && number === undefined) return [];
    // Docker's numbers increase with age.
    const order = timestamp === undefined ? -Number(number) : Number(timestamp.replace('-', ''));
    return [{path: childPath(dirname(path), entry), order, gzipped: gzip !== undefined}];
  });
  return rotated
    .filter((segment) => !isDuplicate(segment, rotated))
    .toSorted((a, b) => a.order - b.order)
    .map((segment) => segment.path);
}

function isDuplicate({gzipped, order}: Rotated, all: readonly Rotated[]): boolean {
  return gzipped && all.some((other) => !other.gzipped && other.order === order);
}
