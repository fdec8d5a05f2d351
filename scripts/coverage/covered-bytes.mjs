/**
 * Marks the executed bytes of a script.
 *
 * @param {Uint8Array} covered one byte for each byte of the script, 1 if it has been executed
 * @param {readonly import('./covered-bytes.mjs').ScriptFunction[]} functions from V8, the outer before the inner
 */
export function markCovered(covered, functions) {
  const now = new Uint8Array(covered.length);
  // An inner range overrides the ranges around it.
  for (const {ranges} of functions)
    for (const {startOffset, endOffset, count} of ranges) now.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  for (const [at, value] of now.entries()) covered[at] |= value;
}

/**
 * Returns the number of bytes, and of those executed, in each folder.
 *
 * @param {ReadonlyMap<string, Uint8Array>} coverage by path, such as `src/cri/ids.ts`
 * @param {number} depth number of folder names that a row has
 * @returns {import('./covered-bytes.mjs').FolderCoverage[]}
 */
export function coverageByFolder(coverage, depth) {
  const rows = new Map();
  for (const [path, covered] of coverage) {
    const folder = path.split('/').slice(0, -1).slice(0, depth).join('/');
    const row = rows.get(folder) ?? {folder, files: 0, bytes: 0, covered: 0};
    row.files += 1;
    row.bytes += covered.length;
    row.covered += covered.reduce((sum, value) => sum + value, 0);
    rows.set(folder, row);
  }
  return [...rows.values()].toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
}
