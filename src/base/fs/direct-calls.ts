import {readFileSync} from 'node:fs';
import {areAllLocal} from './file-system-kinds.js';

/**
 * Returns a function that reports whether the next call on a file may be made on the thread that also handles signals.
 * That saves starting the threads for such calls, which takes a tenth of a short command. It is true for the first
 * `calls` calls, since signals wait meanwhile, and only if all mounts are local: a call on a file of an unreachable server
 * would wait for ever, and only reading the mounts does not.
 */
export function createDirectCalls(calls: number, readMounts = readMountInfo): () => boolean {
  let left: number | undefined;
  return () => {
    left ??= areAllLocal(readMounts()) ? calls : 0;
    left -= 1;
    return left >= 0;
  };
}

function readMountInfo(): string {
  try {
    // Not as Latin-1: Node.js would compile what reads other encodings.
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return ''; // not on Linux, or without /proc
  }
}
