import type {Stats} from 'node:fs';
import {lstat, readdir, stat} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {LARGEST_MANIFEST_BYTES} from '../../api/manifest.js';
import {hasErrno, isSystemCallError, KcriError} from '../../base/errors.js';
import {ifPresent} from '../../base/files.js';
import {systemReason} from '../../base/system-reason.js';
import {readTextFile} from '../../base/read-text-file.js';
import type {FileContent} from './manifest-files.js';

/** What a path of manifests is now, and the directory in which its changes are seen. */
export type Place =
  | {readonly kind: 'directory' | 'file'; readonly directory: string}
  | {readonly kind: 'missing'}
  | {readonly kind: 'unreadable'; readonly error: string};

/** Looks what is at the path. */
export async function placeAt(path: string): Promise<Place> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return {kind: 'directory', directory: path};
    if (found.isFile()) return {kind: 'file', directory: dirname(path)};
    return {kind: 'unreadable', error: 'path is not a directory or file'};
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return {kind: 'missing'};
    return {kind: 'unreadable', error: goError('stat', path, error)};
  }
}

/** True for a file of the directory that is no manifest, whatever it holds: hidden, or being written by an editor. */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** The paths in a directory where manifests may be: whatever their endings, and not below. */
export async function manifestPaths(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory);
  return names.filter((name) => !isHidden(name)).map((name) => join(directory, name));
}

/**
 * What is at a path of the directory; undefined for nothing. Only regular files are opened: a FIFO or device must not
 * hang or do anything. A file that has been read twice with the times and size that it has now is not read once more,
 * when `before` is what was found at the last look. Rejects with the signal's reason.
 */
export async function contentAt(
  path: string,
  signal: AbortSignal,
  before?: FileContent,
): Promise<FileContent | undefined> {
  try {
    const found = await ifPresent(() => stat(path));
    if (found === undefined) return await danglingLink(path);
    if (!found.isFile()) return notAManifest(found);
    const stamp = stampOf(found);
    const isKnown = before?.kind === 'text' && before.stamp === stamp;
    // Once isn't enough: it may have been changed again at the same time, as coarse as clocks of file systems are.
    if (isKnown && before.isConfirmed) return before;
    const text = await readTextFile(path, LARGEST_MANIFEST_BYTES, signal);
    return {kind: 'text', text, stamp, isConfirmed: isKnown};
  } catch (error) {
    signal.throwIfAborted();
    if (hasErrno(error, 'ENOENT')) return undefined;
    const reason = error instanceof KcriError ? error.message : goError('open', path, error);
    return {kind: 'unreadable', message: 'Could not process manifest file', error: reason};
  }
}

function stampOf({dev, ino, size, mtimeMs, ctimeMs}: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
}

async function danglingLink(path: string): Promise<FileContent | undefined> {
  if ((await ifPresent(() => lstat(path))) === undefined) return undefined;
  const error = `stat ${path}: no such file or directory`;
  return {kind: 'unreadable', message: 'Could not get metadata', error};
}

function notAManifest(found: Stats): FileContent {
  const message = found.isDirectory()
    ? 'Provided manifest path is a directory, not recursing into manifest path'
    : 'Manifest path is not a directory or file';
  return {kind: 'unreadable', message, error: undefined};
}

/** What Go says of a system call that failed; what isn't one is a fault and thrown. */
export function goError(call: string, path: string, error: unknown): string {
  if (!isSystemCallError(error)) throw error;
  return `${call} ${path}: ${systemReason(error)}`;
}
