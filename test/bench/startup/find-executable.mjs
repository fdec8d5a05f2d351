import {existsSync} from 'node:fs';
import {arch} from 'node:os';
import {fileURLToPath} from 'node:url';

/** Returns the executable for this machine, or undefined if `npm run build:binary` has not built it. */
export function findExecutable() {
  const file = fileURLToPath(new URL(`../../../dist/binary/kcri-linux-${arch()}`, import.meta.url));
  return existsSync(file) ? file : undefined;
}
