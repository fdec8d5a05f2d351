/**
 * Returns the program of the thread that reads; undefined for a program that is not bundled, which reads in its own thread. In the bundle
 * and the executable, this module has the text itself (scripts/bundle/replacements.mjs).
 */
export function readerThreadSource(): string | undefined {
  return undefined;
}
