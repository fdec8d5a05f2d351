import {readFile} from 'node:fs/promises';
import {ifPresent} from '../fs/files.js';

/** Reads the name of the operating system; empty without /etc/os-release. Rejects with SystemError if it cannot be read. */
export async function readOsImage(): Promise<string> {
  return osImageOf((await ifPresent(async () => await readFile('/etc/os-release', 'utf8'))) ?? '');
}

/** Returns PRETTY_NAME of os-release. */
export function osImageOf(osRelease: string): string {
  return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? '';
}
