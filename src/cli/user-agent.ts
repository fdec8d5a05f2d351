import {programVersion} from './program-version.js';

/** kcri's version and what it runs on, as the program's own help has it. */
export function userAgent(): string {
  // Bun calls itself the Node.js that it is like, too.
  const {bun} = process.versions;
  const runtime = bun === undefined ? `node-${process.version}` : `bun-v${bun}`;
  return `kcri/${programVersion()} ${process.platform}-${process.arch} ${runtime}`;
}
