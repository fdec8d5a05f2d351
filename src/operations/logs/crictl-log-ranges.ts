import {PlainLogFile} from './log-file.js';
import {FROM_START, orClose, type HistoryOptions, type LogRanges} from './log-range.js';

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Returns the file at the path, to be read as crictl does: without rotated files, and with the last lines counted by
 * newlines.
 */
export async function findCrictlLogRanges(
  path: string,
  {tailLines, followed = false, signal, files}: HistoryOptions,
): Promise<LogRanges> {
  const file = await PlainLogFile.open(path, {signal, files});
  if (tailLines === undefined) return {ranges: [{file, starts: FROM_START}], skipped: []};
  const start = await orClose(file, async () => await findPhysicalTail(file, await file.size(), tailLines));
  const lines = followed ? undefined : tailLines;
  return {ranges: [{file, starts: {stdout: start, stderr: start}, lines}], skipped: []};
}

/**
 * Returns the offset of the last `count` physical lines of a file, counted by newlines as crictl does, so that text
 * after the last newline does not count as a line.
 */
async function findPhysicalTail(file: PlainLogFile, size: number, count: number): Promise<number> {
  let remaining = count + 1;
  for (let end = size; end > 0; end -= BLOCK_BYTES) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = Buffer.allocUnsafe(end - start);
    await file.readAt(block, start);
    for (let newline = block.lastIndexOf(NEWLINE); newline !== -1;) {
      remaining -= 1;
      if (remaining === 0) return start + newline + 1;
      newline = newline === 0 ? -1 : block.lastIndexOf(NEWLINE, newline - 1);
    }
  }
  return 0;
}
