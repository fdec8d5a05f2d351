import {expect, test} from 'vitest';
import {coverageByFolder, markCovered} from '../../../scripts/coverage/covered-bytes.mjs';

const range = (startOffset: number, endOffset: number, count: number) => ({startOffset, endOffset, count});

test('an inner range overrides the outer one, and later executions are added', () => {
  const covered = new Uint8Array(10);
  markCovered(covered, [{ranges: [range(0, 10, 1), range(8, 10, 0)]}, {ranges: [range(2, 6, 0)]}]);
  expect([...covered]).toEqual([1, 1, 0, 0, 0, 0, 1, 1, 0, 0]);
  markCovered(covered, [{ranges: [range(0, 10, 0)]}, {ranges: [range(2, 6, 3), range(4, 5, 0)]}]);
  expect([...covered]).toEqual([1, 1, 1, 1, 0, 1, 1, 1, 0, 0]);
});

test('files count for their folder at the depth of a row', () => {
  const coverage = new Map([
    ['src/kubelet/pods/sync/a.ts', Uint8Array.of(1, 1)],
    ['src/kubelet/pods/b.ts', Uint8Array.of(0, 1)],
    ['src/cri/c.ts', Uint8Array.of(0)],
  ]);
  expect(coverageByFolder(coverage, 3)).toEqual([
    {folder: 'src/cri', files: 1, bytes: 1, covered: 0},
    {folder: 'src/kubelet/pods', files: 2, bytes: 4, covered: 3},
  ]);
});
