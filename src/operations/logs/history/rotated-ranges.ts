import {ifPresent} from '../../../base/fs/if-present.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import type {LogFile} from '../log-file.js';
import {isSameFile} from '../log-files.js';
import {orClose, type HistoryOptions, type LogRange, type StartFinder} from '../log-range.js';
import {openLog} from './open-log.js';

/** Conditions for rotated files to read. */
interface RotatedOptions {
  readonly finder: StartFinder;
  readonly options: HistoryOptions;
}

/**
 * Adds the rotated files before the range of the file at the path, as far as needed; `rotated` are their paths, the oldest
 * first. Returns messages about those that cannot be read.
 */
export async function addRotated(
  ranges: LogRange[],
  rotated: readonly string[],
  {finder, options}: RotatedOptions,
): Promise<readonly string[]> {
  const skipped: string[] = [];
  const [live] = ranges;
  if (live === undefined) throw new RangeError('the range of the file at the path is missing');
  for (const older of rotated.toReversed()) {
    if (finder.done) break;
    try {
      const range = await ifPresent(async () => await rangeOf(older, live.file, {finder, options}));
      if (range !== undefined) ranges.unshift(range);
    } catch (error) {
      options.signal?.throwIfAborted();
      skipped.push(`skipped "${older}": ${systemErrorMessage(error)}`);
    }
  }
  return skipped;
}

async function rangeOf(
  path: string,
  live: LogFile,
  {finder, options}: RotatedOptions,
): Promise<LogRange | undefined> {
  // Its kubelet may have compressed it since it was listed.
  const file = (await ifPresent(() => openLog(path, options))) ?? (await openLog(`${path}.gz`, options));
  const starts = await orClose(file, async () =>
    isSameFile(await file.state(), await live.state()) ? undefined : await finder.find(file),
  );
  if (starts !== undefined) return {file, starts};
  // It was rotated after the file at the path was opened.
  await file[Symbol.asyncDispose]();
  return undefined;
}
