import {delimiter, isAbsolute} from 'node:path';

const SYSTEM_DIRS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Returns the search path for programs: PATH and the system directories, which `su` may omit. */
export function searchDirs(path: string): string[] {
  return [...new Set([...path.split(delimiter).filter(isAbsolute), ...SYSTEM_DIRS])];
}
