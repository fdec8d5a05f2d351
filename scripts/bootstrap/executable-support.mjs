import {HOST_TARGET, TARGETS} from '../binary/runtimes.mjs';

/**
 * Returns why the executable cannot be tested on this machine, or undefined if it can.
 *
 * @returns {string | undefined}
 */
export function explainNoExecutable() {
  if (!TARGETS.includes(HOST_TARGET)) return `no executable is available for ${process.arch}`;
  // The executable is built for glibc unless a musl target is requested.
  if (process.report.getReport().header.glibcVersionRuntime === undefined)
    return 'this Node.js does not use glibc';
  return undefined;
}
