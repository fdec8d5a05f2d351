import {rmSync} from 'node:fs';

/** Paths that are removed. There is one listener for all: a process may have many. */
const existing = new Set<string>();

/**
 * Removes a file or a directory when disposed of, and when this process exits or is hung up, as when a second Ctrl-C ends it or its
 * terminal is closed.
 */
export function removeAtExit(path: string): Disposable {
  if (existing.size === 0) {
    process.on('exit', removeAll);
    // Node.js does not inherit an ignored SIGHUP, so that this overrides nothing.
    process.on('SIGHUP', hangUp);
  }
  existing.add(path);
  return {
    [Symbol.dispose]: () => {
      remove(path);
    },
  };
}

function remove(path: string): void {
  rmSync(path, {recursive: true, force: true});
  existing.delete(path);
  if (existing.size > 0) return;
  process.off('exit', removeAll);
  process.off('SIGHUP', hangUp);
}

function removeAll(): void {
  for (const path of existing) remove(path);
}

/** Removes the paths before SIGHUP ends the process. */
function hangUp(): void {
  removeAll();
  process.kill(process.pid, 'SIGHUP');
}
