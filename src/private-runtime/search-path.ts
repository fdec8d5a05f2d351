import {delimiter, isAbsolute} from 'node:path';

const SYSTEM_DIRS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Where programs are looked for: in PATH, and where system programs are, which `su` may leave out of it. */
export function searchDirs(path: string): string[] {
  return [...new Set([...path.split(delimiter).filter(isAbsolute), ...SYSTEM_DIRS])];
}
