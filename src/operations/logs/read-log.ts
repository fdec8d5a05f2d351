import {realpath} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {Clock} from '../../base/clock.js';
import {ifPresent} from '../../base/files.js';
import {FolderChanges} from './changes.js';
import {LogSource, POLL_MS, type FollowOptions} from './log-source.js';
import {OWN_MANNER} from './manner.js';
import type {Pen, PenOptions} from './pen.js';
import type {HistoryOptions} from './plan.js';
import {compareTimes} from './selection.js';
import {LogWriter, type LogSink} from './writer.js';

/** A log that is read, and what writes its lines. */
export interface ReadableLog {
  readonly source: LogSource;
  readonly pen: Pen;
}

/** Where several logs go, and until when. */
export interface MergeOptions {
  readonly writer: LogWriter;
  /** Told what there is to know between the lines. */
  readonly notice: (text: string) => void;
  /** Waits for something new in followed logs. */
  readonly changed?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes the lines of logs in the order of their time until all have ended or the writer is full. Of those that are
 * followed, lines come as they are written. Rejects with the signal's reason, and what a log can't be read for.
 */
export async function mergeLogs(logs: readonly ReadableLog[], options: MergeOptions): Promise<void> {
  const {writer, notice, changed, signal} = options;
  while (!writer.full) {
    signal.throwIfAborted();
    for (const {source} of logs) await source.fill();
    const ready = logs.filter(({source}) => source.hasLine);
    if (ready.length === 0) for (const {pen} of logs) pen.idle();
    await writer.flush();
    for (const {source} of logs) source.notices.splice(0).forEach(notice);
    if (ready.length > 0) writeBurst(ready, writer);
    else if (logs.every(({source}) => source.ended)) return;
    else if (!(await anyNews(logs))) await changed?.();
  }
  await writer.flush();
}

async function anyNews(logs: readonly ReadableLog[]): Promise<boolean> {
  let news = false;
  for (const {source} of logs) if (await source.look()) news = true;
  return news;
}

/** Writes what is at hand, until one of the logs has to be read on: its next line may be the earliest. */
function writeBurst(logs: readonly ReadableLog[], writer: LogWriter): void {
  for (;;) {
    const {earliest, next} = firstTwo(logs);
    const {source, pen} = earliest;
    do {
      if (writer.full) return;
      pen.add(source.line);
      if (!source.advance()) return;
    } while (next === undefined || compareTimes(source.line, next.source.line) <= 0);
  }
}

function firstTwo([first, ...others]: readonly ReadableLog[]): {
  readonly earliest: ReadableLog;
  readonly next: ReadableLog | undefined;
} {
  if (first === undefined) throw new RangeError('there is no log to choose from');
  let [earliest, next]: [ReadableLog, ReadableLog | undefined] = [first, undefined];
  for (const log of others) {
    if (compareTimes(log.source.line, earliest.source.line) < 0) [earliest, next] = [log, earliest];
    else if (next === undefined || compareTimes(log.source.line, next.source.line) < 0) next = log;
  }
  return {earliest, next};
}

/** How one log is read. */
export interface ReadLogOptions extends HistoryOptions, PenOptions {
  /** Stop after so many bytes. */
  readonly limitBytes?: number | undefined;
  readonly follow?: FollowOptions | undefined;
  readonly signal: AbortSignal;
}

/**
 * Reads a container's log and writes the wanted part of it to the sink (cri-client logs.go ReadLogs), with the files
 * that it was rotated into. Memory does not grow with the file. Gives the number of lines that are in no known
 * format; they are left out. Throws SystemError when the file can't be read, and the signal's reason.
 */
export async function readLog(path: string, options: ReadLogOptions, sink: LogSink): Promise<number> {
  const {follow, signal, limitBytes} = options;
  await using source = await LogSource.open(path, {...options, manner: OWN_MANNER});
  using changes = follow === undefined ? undefined : await logChanges([path], follow.clock);
  const writer = new LogWriter(sink, limitBytes);
  await mergeLogs([{source, pen: OWN_MANNER.pen(writer, options)}], {
    writer,
    notice: () => undefined,
    changed: async () => {
      await changes?.next(POLL_MS, signal);
    },
    signal,
  });
  return source.unknownLines;
}

/** Watches the folders that logs are in. */
export async function logChanges(paths: readonly string[], clock: Clock): Promise<FolderChanges> {
  const folders = new Set<string>();
  for (const path of paths) folders.add(dirname((await ifPresent(() => realpath(path))) ?? path));
  return new FolderChanges([...folders], clock);
}
