import {ifPresent} from '../../base/files.js';
import {systemReason} from '../../base/system-reason.js';
import {LineReader} from './line-reader.js';
import {openLog, PlainLogFile, type LogFile} from './log-file.js';
import {BLOCK, findTime, firstTime} from './seek.js';
import {rotatedSegments} from './segments.js';
import {compareTimes, surelyAfter, surelyBefore, type LogSelection, type LogTime} from './selection.js';
import {findPhysicalTail, Tail, type StreamStarts} from './tail.js';

/** A file of a log that is to be read, and from where on. */
export interface Stretch {
  readonly file: LogFile;
  readonly starts: StreamStarts;
  /** It ends after so many lines in a known format. */
  readonly lines?: number | undefined;
}

/** What of a log is read. */
export interface LogPlan {
  /** The oldest first, and open. */
  readonly stretches: readonly Stretch[];
  /** Rotated files that can't be read, and why. */
  readonly skipped: readonly string[];
}

/** How far back a log is read. */
export interface HistoryOptions extends LogSelection {
  /** Only so many lines from the end. */
  readonly tailLines?: number | undefined;
  /** It goes on after the end. */
  readonly followed?: boolean | undefined;
  /** Ends the reading, also while lines are looked for. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The files of a log that have to be read: the one at the path, and those that it was rotated into as far as they
 * are wanted. What is in front of the wanted lines is searched, not read. Rejects with the system's error when the
 * file at the path can't be opened, and the signal's reason.
 */
export async function planHistory(path: string, options: HistoryOptions): Promise<LogPlan> {
  const {tailLines, signal} = options;
  const tail = tailLines === undefined ? undefined : new Tail(tailLines, options);
  const live = await PlainLogFile.open(path, signal);
  const stretches = [await orClose(live, async () => await planFile(live, options, tail))];
  const skipped: string[] = [];
  for (const older of (await rotatedSegments(path)).toReversed()) {
    if (stretches[0]?.isFirst === true || tail?.done === true) break;
    try {
      const stretch = await ifPresent(async () => await planOlder(older, live.inode, options, tail));
      if (stretch !== undefined) stretches.unshift(stretch);
    } catch (error) {
      if (signal?.aborted === true) {
        for (const {file} of stretches) await file[Symbol.asyncDispose]();
        throw error;
      }
      skipped.push(`left out "${older}": ${systemReason(error)}`);
    }
  }
  return {stretches, skipped};
}

/** The file at the path, read as crictl does: nothing that was rotated, last lines by line ends. */
export async function planAsCrictl(
  path: string,
  {tailLines, followed = false, signal}: HistoryOptions,
): Promise<LogPlan> {
  const file = await PlainLogFile.open(path, signal);
  if (tailLines === undefined) return {stretches: [{file, starts: startsAt(0)}], skipped: []};
  const start = await orClose(file, async () => await findPhysicalTail(file, await file.size(), tailLines));
  const lines = followed ? undefined : tailLines;
  return {stretches: [{file, starts: startsAt(start), lines}], skipped: []};
}

const startsAt = (place: number): StreamStarts => ({stdout: place, stderr: place});

async function planOlder(
  path: string,
  liveInode: number,
  options: HistoryOptions,
  tail: Tail | undefined,
): Promise<PlannedStretch | undefined> {
  const file = await openLog(path, options.signal);
  if (file.inode !== liveInode) return await orClose(file, async () => await planFile(file, options, tail));
  // It was rotated just now.
  await file[Symbol.asyncDispose]();
  return undefined;
}

async function orClose<T>(file: LogFile, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}

interface PlannedStretch extends Stretch {
  /** Nothing in older files can be wanted. */
  readonly isFirst: boolean;
}

async function planFile(
  file: LogFile,
  options: HistoryOptions,
  tail: Tail | undefined,
): Promise<PlannedStretch> {
  const earliest = options.since === undefined ? undefined : surelyBefore(options.since);
  const isFirst = earliest !== undefined && (await startsBefore(file, earliest, options.signal));
  if (!(file instanceof PlainLogFile)) {
    const starts = await tail?.addGzipped(async () => await openLog(file.path, options.signal));
    return {file, isFirst, starts: starts ?? startsAt(0)};
  }
  const size = await file.size();
  const start = isFirst ? await findTime(file, size, earliest) : 0;
  const last = await tail?.addPlain(file, await endOf(file, size, options));
  if (last === undefined) return {file, isFirst, starts: startsAt(start)};
  const starts = {stdout: Math.max(start, last.stdout), stderr: Math.max(start, last.stderr)};
  return {file, isFirst, starts};
}

async function startsBefore(file: LogFile, time: LogTime, signal?: AbortSignal): Promise<boolean> {
  const first = await firstTimeOf(file, signal);
  return first !== undefined && compareTimes(first, time) < 0;
}

/** A place behind all wanted lines. */
async function endOf(file: PlainLogFile, size: number, {until}: HistoryOptions): Promise<number> {
  if (until === undefined) return size;
  return Math.min(size, (await findTime(file, size, surelyAfter(until))) + BLOCK);
}

async function firstTimeOf(file: LogFile, signal?: AbortSignal): Promise<LogTime | undefined> {
  if (file instanceof PlainLogFile) return await firstTime(file);
  await using again = await openLog(file.path, signal);
  const reader = new LineReader(again);
  do {
    while (reader.next()) if (reader.known) return {seconds: reader.line.seconds, nanos: reader.line.nanos};
  } while (await reader.fill());
  return undefined;
}
