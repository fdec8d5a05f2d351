import {HOST_TARGET, TARGETS} from '../binary/runtimes.mjs';

/**
 * Why the executable can't be run on this machine, so that it isn't tested here; undefined where it can.
 *
 * @returns {string | undefined}
 */
export function explainNoExecutable() {
  if (!TARGETS.includes(HOST_TARGET)) return `there is no executable for ${process.arch}`;
  // It is made for the C library of the machine it is tested on, and that is glibc unless somebody asks for another.
  if (process.report.getReport().header.glibcVersionRuntime === undefined)
    return 'this Node.js is not on glibc';
  return undefined;
}
