import {ifPresent} from '../../base/fs/files.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {LineReader} from './line-reader.js';
import {openLog, PlainLogFile, type LogFile, type OpenLogOptions} from './log-file.js';
import {isSameFile, type LogFiles} from './log-files.js';
import {SEEK_BLOCK_BYTES, findTime, firstTime} from './find-time.js';
import {listRotatedSegments} from './rotated-segments.js';
import {
  compareTimes,
  upperTimeBound,
  lowerTimeBound,
  type LogSelection,
  type LogTime,
} from './log-selection.js';
import {findPhysicalTail, TailFinder, type StreamStarts} from './tail-finder.js';

/** A log file and the offsets from which to read it. */
export interface LogRange {
  readonly file: LogFile;
  readonly starts: StreamStarts;
  /** Number of lines in a known format after which to stop. */
  readonly lines?: number | undefined;
}

/** Files and offsets to read for a log. */
export interface LogRanges {
  /** Open files, the oldest first. */
  readonly ranges: readonly LogRange[];
  /** Messages about rotated files that cannot be read. */
  readonly skipped: readonly string[];
}

/** Conditions for the part of a log to read. */
export interface HistoryOptions extends LogSelection {
  /** Maximum number of lines from the end. */
  readonly tailLines?: number | undefined;
  /** True if the log is followed after its end. */
  readonly followed?: boolean | undefined;
  /** Aborts the reading, also while searching for lines. */
  readonly signal?: AbortSignal | undefined;
  /** Files of the log's node; those of this machine by default. */
  readonly files?: LogFiles | undefined;
}

/**
 * Returns the log ranges to read: the file at the path, and the files it was rotated into as far as needed. Lines
 * before the first selected one are found by a search instead of reading. Rejects with the system's error if the file
 * at the path cannot be opened, and with the signal's reason.
 */
export async function findLogRanges(path: string, options: HistoryOptions): Promise<LogRanges> {
  const {tailLines} = options;
  const tail = tailLines === undefined ? undefined : new TailFinder(tailLines, options);
  const live = await PlainLogFile.open(path, options);
  const ranges = [await orClose(live, async () => await planFile(live, options, tail))];
  try {
    return {ranges, skipped: await addOlder(ranges, live, options, tail)};
  } catch (error) {
    for (const {file} of ranges) await file[Symbol.asyncDispose]();
    throw error;
  }
}

/** Adds the rotated files before the file at the path, as far as needed. Returns messages about those that cannot be read. */
async function addOlder(
  ranges: PlannedRange[],
  live: LogFile,
  options: HistoryOptions,
  tail: TailFinder | undefined,
): Promise<readonly string[]> {
  const skipped: string[] = [];
  for (const older of (await listRotatedSegments(live.path, options.files)).toReversed()) {
    if (ranges[0]?.isFirst === true || tail?.done === true) break;
    try {
      const range = await ifPresent(async () => await planOlder(older, live, options, tail));
      if (range !== undefined) ranges.unshift(range);
    } catch (error) {
      options.signal?.throwIfAborted();
      skipped.push(`skipped "${older}": ${systemErrorMessage(error)}`);
    }
  }
  return skipped;
}

/**
 * Returns the file at the path, to be read as crictl does: without rotated files, and with the last lines counted by
 * newlines.
 */
export async function findCrictlLogRanges(
  path: string,
  {tailLines, followed = false, signal, files}: HistoryOptions,
): Promise<LogRanges> {
  const file = await PlainLogFile.open(path, {signal, files});
  if (tailLines === undefined) return {ranges: [{file, starts: startAt(0)}], skipped: []};
  const start = await orClose(file, async () => await findPhysicalTail(file, await file.size(), tailLines));
  const lines = followed ? undefined : tailLines;
  return {ranges: [{file, starts: startAt(start), lines}], skipped: []};
}

const startAt = (offset: number): StreamStarts => ({stdout: offset, stderr: offset});

async function planOlder(
  path: string,
  live: LogFile,
  options: HistoryOptions,
  tail: TailFinder | undefined,
): Promise<PlannedRange | undefined> {
  // Its kubelet may have compressed it since it was listed.
  const file = (await ifPresent(() => openLog(path, options))) ?? (await openLog(`${path}.gz`, options));
  const range = await orClose(file, async () =>
    isSameFile(await file.state(), await live.state()) ? undefined : await planFile(file, options, tail),
  );
  // It was rotated after the file at the path was opened.
  if (range === undefined) await file[Symbol.asyncDispose]();
  return range;
}

async function orClose<T>(file: LogFile, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}

interface PlannedRange extends LogRange {
  /** True if older files contain no selected lines. */
  readonly isFirst: boolean;
}

async function planFile(
  file: LogFile,
  options: HistoryOptions,
  tail: TailFinder | undefined,
): Promise<PlannedRange> {
  const earliest = options.since === undefined ? undefined : lowerTimeBound(options.since);
  const isFirst = earliest !== undefined && (await startsBefore(file, earliest, options));
  if (!(file instanceof PlainLogFile)) {
    const starts = await tail?.addGzipped(async () => await openLog(file.path, options));
    return {file, isFirst, starts: starts ?? startAt(0)};
  }
  const size = await file.size();
  const start = isFirst ? await findTime(file, size, earliest) : 0;
  const last = await tail?.addPlain(file, await endOf(file, size, options));
  if (last === undefined) return {file, isFirst, starts: startAt(start)};
  const starts = {stdout: Math.max(start, last.stdout), stderr: Math.max(start, last.stderr)};
  return {file, isFirst, starts};
}

async function startsBefore(file: LogFile, time: LogTime, options: OpenLogOptions): Promise<boolean> {
  const first = await firstTimeOf(file, options);
  return first !== undefined && compareTimes(first, time) < 0;
}

/** Returns an offset after all selected lines. */
async function endOf(file: PlainLogFile, size: number, {until}: HistoryOptions): Promise<number> {
  if (until === undefined) return size;
  return Math.min(size, (await findTime(file, size, upperTimeBound(until))) + SEEK_BLOCK_BYTES);
}

async function firstTimeOf(file: LogFile, options: OpenLogOptions): Promise<LogTime | undefined> {
  if (file instanceof PlainLogFile) return await firstTime(file);
  await using reopened = await openLog(file.path, options);
  const reader = new LineReader(reopened);
  do {
    while (reader.next()) if (reader.known) return {seconds: reader.line.seconds, nanos: reader.line.nanos};
  } while (await reader.fill());
  return undefined;
}
