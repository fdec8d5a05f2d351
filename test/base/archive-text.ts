import {execFileSync} from 'node:child_process';

/** Largest content that is read, in bytes: that of a node grows with its cgroups and processes. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Returns the content of all files of a compressed archive. */
export function archiveText(file: string): string {
  return execFileSync('tar', ['-xOzf', file], {encoding: 'utf8', maxBuffer: MAX_BYTES});
}
