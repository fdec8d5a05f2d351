import {existsSync} from 'node:fs';
import {arch} from 'node:os';
import {fileURLToPath} from 'node:url';

/** The executable for this machine; undefined when `npm run build:binary` has not made it. */
export function findExecutable() {
  const file = fileURLToPath(new URL(`../../../dist/binary/kcri-linux-${arch()}`, import.meta.url));
  return existsSync(file) ? file : undefined;
}
