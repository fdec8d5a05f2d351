import {rmSync, unlinkSync} from 'node:fs';
import {hasErrno} from '../errors.js';

/** Paths that are removed, and how. There is one listener for all: a process may have many. */
const existing = new Map<string, (path: string) => void>();

/**
 * Removes a directory with its content when disposed of, and when this process exits or is hung up, as when a second Ctrl-C ends it
 * or its terminal is closed.
 */
export function removeDirectoryAtExit(path: string): Disposable {
  return removeAtExit(path, (directory) => {
    rmSync(directory, {recursive: true, force: true});
  });
}

/** Removes a file, a link or a socket like removeDirectoryAtExit. A directory in its place is not this process' own, and stays. */
export function removeFileAtExit(path: string): Disposable {
  return removeAtExit(path, (file) => {
    try {
      unlinkSync(file);
    } catch (error) {
      if (!hasErrno(error, 'ENOENT', 'EISDIR')) throw error;
    }
  });
}

function removeAtExit(path: string, removal: (path: string) => void): Disposable {
  if (existing.size === 0) {
    process.on('exit', removeAll);
    process.on('SIGHUP', hangUp);
  }
  existing.set(path, removal);
  return {
    [Symbol.dispose]: () => {
      remove(path);
    },
  };
}

function remove(path: string): void {
  existing.get(path)?.(path);
  existing.delete(path);
  if (existing.size > 0) return;
  process.off('exit', removeAll);
  process.off('SIGHUP', hangUp);
}

function removeAll(): void {
  for (const path of existing.keys()) remove(path);
}

/** Removes the paths before SIGHUP ends the process, unless another listener decides about its end. */
function hangUp(): void {
  if (process.listenerCount('SIGHUP') > 1) return;
  removeAll();
  process.kill(process.pid, 'SIGHUP');
}
