import {LineView} from '../../cri/index.js';
import type {PlainLogFile} from './log-file.js';
import {compareTimes, type LogTime} from './selection.js';

const NEWLINE = 0x0a;
/** So close `findTime` comes. */
export const BLOCK = 64 * 1024;

/**
 * Where to begin to read a log for the lines of `time` and later: the start of a line, at most a block in front of
 * the first of them. A binary search, so that little of the file is read; times must not go back. Where there are no
 * lines in a known format it errs towards the front.
 */
export async function findTime(file: PlainLogFile, size: number, time: LogTime): Promise<number> {
  let low = 0;
  for (let high = size; high - low > BLOCK;) {
    const middle = low + Math.floor((high - low) / 2);
    const found = await firstLineFrom(file, middle);
    if (found !== undefined && compareTimes(found, time) < 0) low = found.start;
    else high = middle;
  }
  return low;
}

/** The time of a file's first line in a known format, among those of its first block. */
export async function firstTime(file: PlainLogFile): Promise<LogTime | undefined> {
  return await firstLineFrom(file, 0);
}

async function firstLineFrom(
  file: PlainLogFile,
  position: number,
): Promise<(LogTime & {readonly start: number}) | undefined> {
  const block = Buffer.allocUnsafe(BLOCK);
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
