import {LineView} from '../../../cri/index.js';
import type {PlainLogFile} from '../log-file.js';
import {compareTimes, type LogTime} from '../log-selection.js';

const NEWLINE = 0x0a;
/** Maximum distance in bytes between the result of `findTime` and the first matching line. */
export const SEEK_BLOCK_BYTES = 64 * 1024;

/**
 * Returns the start of a line from which to read a log for lines of `time` and later, at most a block before the
 * first of them. Searches binarily, so that it reads little of the file; times must be ascending. If lines have no
 * known format, the result may be earlier.
 */
export async function findTime(file: PlainLogFile, size: number, time: LogTime): Promise<number> {
  let low = 0;
  for (let high = size; high - low > SEEK_BLOCK_BYTES;) {
    const middle = low + Math.floor((high - low) / 2);
    const found = await firstLineFrom(file, middle);
    if (found !== undefined && compareTimes(found, time) < 0) low = found.start;
    else high = middle;
  }
  return low;
}

/** Returns the time of the first line with a known format in the first block of a file. */
export async function firstTime(file: PlainLogFile): Promise<LogTime | undefined> {
  return await firstLineFrom(file, 0);
}

async function firstLineFrom(
  file: PlainLogFile,
  position: number,
): Promise<(LogTime & {readonly start: number}) | undefined> {
  const block = Buffer.allocUnsafe(SEEK_BLOCK_BYTES);
  const text = block.subarray(0, await file.readAt(block, position));
  const line = new LineView();
  for (let start = position === 0 ? 0 : text.indexOf(NEWLINE) + 1; ;) {
    const newline = text.indexOf(NEWLINE, start);
    if (newline === -1 || (start === 0 && position > 0)) return undefined;
    if (line.scan(text, start, newline + 1))
      return {seconds: line.seconds, nanos: line.nanos, start: position + start};
    start = newline + 1;
  }
}
