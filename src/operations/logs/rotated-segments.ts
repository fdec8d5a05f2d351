import {basename, dirname} from 'node:path';
import {childPath} from '../../base/fs/child-path.js';
import {ifPresent} from '../../base/fs/if-present.js';
import {LOCAL_LOG_FILES, type LogFiles} from './log-files.js';

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
  const [directory, name] = [dirname(path), basename(path)];
  const names = (await ifPresent(() => files.list(directory))) ?? [];
  const suffixes = names
    .filter((other) => other.startsWith(`${name}.`))
    .map((other) => other.slice(name.length));
  if (suffixes.length === 0) return [];
  const {sortRotated} = await import('./history/rotated-names.js');
  return sortRotated(suffixes).map((suffix) => childPath(directory, `${name}${suffix}`));
}
