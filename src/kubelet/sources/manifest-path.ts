import type {Stats} from 'node:fs';
import {lstat, readdir, stat} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {MAX_MANIFEST_BYTES} from '../../api/manifest/parse-manifest.js';
import {hasErrno, KcriError} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/files.js';
import {formatPathError} from '../../base/system-error-message.js';
import {readTextFile} from '../../base/fs/read-text-file.js';
import type {ManifestFileContent} from './manifest-files.js';

/** Type of the manifest path, and the directory to watch for its changes. */
export type ManifestPathStat =
  | {readonly kind: 'directory' | 'file'; readonly directory: string}
  | {readonly kind: 'missing'}
  | {readonly kind: 'unreadable'; readonly error: string};

/** Returns the type of the manifest path. Never rejects with a system error. */
export async function statManifestPath(path: string): Promise<ManifestPathStat> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return {kind: 'directory', directory: path};
    if (stats.isFile()) return {kind: 'file', directory: dirname(path)};
    return {kind: 'unreadable', error: 'path is not a directory or file'};
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return {kind: 'missing'};
    return {kind: 'unreadable', error: formatPathError('stat', path, error)};
  }
}

/** Reports whether a file of the directory is ignored because it is hidden, such as the temporary file of an editor. */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** Returns the paths of all entries of a directory, with any extension and not recursively, without hidden ones. */
export async function listManifestPaths(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory);
  return names.filter((name) => !isHidden(name)).map((name) => join(directory, name));
}

/**
 * Reads a manifest file; resolves with undefined if it does not exist. Opens only regular files, since a FIFO or device
 * could block or have side effects. Returns `previous`, the content as of the last read, without reading the file if
 * two reads found it with its current times and size. Rejects with the signal's reason.
 */
export async function readManifestFile(
  path: string,
  signal: AbortSignal,
  previous?: ManifestFileContent,
): Promise<ManifestFileContent | undefined> {
  try {
    const stats = await ifPresent(() => stat(path));
    if (stats === undefined) return await danglingLink(path);
    if (!stats.isFile()) return notAManifest(stats);
    const stamp = stampOf(stats);
    const isKnown = previous?.kind === 'text' && previous.stamp === stamp;
    // One read is not sufficient: filesystem timestamps are coarse, and the file may have changed within the same tick.
    if (isKnown && previous.isConfirmed) return previous;
    const text = await readTextFile(path, MAX_MANIFEST_BYTES, signal);
    return {kind: 'text', text, stamp, identity: identityOf(stats), isConfirmed: isKnown};
  } catch (error) {
    signal.throwIfAborted();
    if (hasErrno(error, 'ENOENT')) return undefined;
    const reason = error instanceof KcriError ? error.message : formatPathError('open', path, error);
    return {kind: 'unreadable', message: 'Could not process manifest file', error: reason};
  }
}

function stampOf({dev, ino, size, mtimeMs, ctimeMs}: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
}

/** Returns an identifier of the file; the birth time distinguishes files that reuse an inode. */
function identityOf({dev, ino, birthtimeMs}: Stats): string {
  return [dev, ino, birthtimeMs].join(' ');
}

async function danglingLink(path: string): Promise<ManifestFileContent | undefined> {
  if ((await ifPresent(() => lstat(path))) === undefined) return undefined;
  const error = `stat ${path}: no such file or directory`;
  return {kind: 'unreadable', message: 'Could not get metadata', error};
}

function notAManifest(stats: Stats): ManifestFileContent {
  const message = stats.isDirectory()
    ? 'Provided manifest path is a directory, not recursing into manifest path'
    : 'Manifest path is not a directory or file';
  return {kind: 'unreadable', message, error: undefined};
}
