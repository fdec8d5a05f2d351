import {programVersion} from './program-version.js';

/** kcri's version and what it runs on, as the program's own help has it. */
export function userAgent(): string {
  return `kcri/${programVersion()} ${process.platform}-${process.arch} node-${process.version}`;
}
