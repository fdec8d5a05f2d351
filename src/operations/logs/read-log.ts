import {open, realpath, stat, type FileHandle} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {Clock} from '../../base/clock.js';
import {hasErrno, isSystemCallError, messageOf, SystemError} from '../../base/errors.js';
import {FolderChanges} from './changes.js';
import {parseLine, type LogLine} from '../../cri/index.js';
import {findTail, type StreamStarts} from './tail.js';
import {LogWriter, type LogSelection, type LogSink} from './writer.js';

/** Going on after the end of the file. */
export interface FollowOptions {
  readonly clock: Clock;
  /** False ends it, once all is read. */
  readonly isRunning: () => Promise<boolean>;
}

/** How a log file is read. */
export interface ReadLogOptions extends LogSelection {
  /** Only so many lines from the end. */
  readonly tailLines?: number | undefined;
  readonly follow?: FollowOptions | undefined;
  readonly signal: AbortSignal;
}

const CHUNK = 256 * 1024;
const NEWLINE = 0x0a;
/** How often a followed file and its container are looked at when nothing is noticed. */
const POLL_MS = 1000;

/**
 * Reads a container's log file and writes the wanted part of it to the sink (cri-client logs.go ReadLogs).
 * Following it goes on with the file that takes its place when the log is rotated. Memory does not grow with
 * the file. Gives the number of lines that are in no known format; they are left out. Throws SystemError when
 * the file can't be read, and the signal's reason.
 */
export async function readLog(path: string, options: ReadLogOptions, sink: LogSink): Promise<number> {
  try {
    return await readFrom(path, options, sink);
  } catch (error) {
    throw isSystemCallError(error) ? failed(path, error) : error;
  }
}

async function readFrom(path: string, options: ReadLogOptions, sink: LogSink): Promise<number> {
  const {follow} = options;
  await using reader = new LogReader(await open(path), options, sink);
  using changes =
    follow === undefined ? undefined : new FolderChanges(dirname(await realpath(path)), follow.clock);
  await reader.seekTail();
  await reader.drain();
  if (follow === undefined || changes === undefined) reader.finish();
  else await followLog(path, reader, {...options, follow, changes});
  return reader.unknownLines;
}

interface Following extends ReadLogOptions {
  readonly follow: FollowOptions;
  readonly changes: FolderChanges;
}

async function followLog(path: string, reader: LogReader, options: Following): Promise<void> {
  const {follow, changes, signal} = options;
  let askedAt = -Infinity;
  for (let running = true; !reader.full;) {
    const progress = await reader.drain();
    const next = await replacement(path, reader);
    if (next !== undefined) await reader.switchTo(next);
    else if (!running) break;
    else if (!progress && follow.clock.now() - askedAt >= POLL_MS) {
      // What it wrote before it ended is read in the next round.
      running = await follow.isRunning();
      askedAt = follow.clock.now();
    } else if (!progress) await changes.next(POLL_MS, signal);
  }
  reader.finish();
}

/** The file that stands at the path now if it is not the one being read. */
async function replacement(path: string, reader: LogReader): Promise<FileHandle | undefined> {
  try {
    return (await stat(path)).ino === (await reader.inode()) ? undefined : await open(path);
  } catch (error) {
    // Between the rotation's rename and the new file nothing is there.
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function failed(path: string, error: unknown): SystemError {
  return new SystemError(`reading the log "${path}": ${messageOf(error)}`, {
    cause: error,
    hint: "logs are files on the runtime's machine; run kcri there, with permission to read them",
  });
}

class LogReader implements AsyncDisposable {
  #file: FileHandle;
  readonly #options: ReadLogOptions;
  readonly #sink: LogSink;
  readonly #writer: LogWriter;
  #starts: StreamStarts = {stdout: 0, stderr: 0};
  #position = 0;
  #rest: Buffer = Buffer.alloc(0);
  readonly #chunk = Buffer.alloc(CHUNK);
  unknownLines = 0;

  constructor(file: FileHandle, options: ReadLogOptions, sink: LogSink) {
    this.#file = file;
    this.#options = options;
    this.#sink = sink;
    this.#writer = new LogWriter(sink, options);
  }

  get full(): boolean {
    return this.#writer.full;
  }

  async inode(): Promise<number> {
    return (await this.#file.stat()).ino;
  }

  /** Goes to where the wanted last lines begin. */
  async seekTail(): Promise<void> {
    const {tailLines, streams} = this.#options;
    if (tailLines === undefined) return;
    const {size} = await this.#file.stat();
    this.#starts = await findTail(this.#file, size, tailLines, streams);
    this.#position = Math.min(this.#starts.stdout, this.#starts.stderr);
  }

  /** Goes on with the file that took the place of this one. */
  async switchTo(file: FileHandle): Promise<void> {
    this.finish();
    await this.#file.close();
    this.#file = file;
    this.#starts = {stdout: 0, stderr: 0};
    this.#position = 0;
  }

  /** Reads all whole lines up to the end of the file; true when there was something new. */
  async drain(): Promise<boolean> {
    const before = this.#position;
    while (!this.full) {
      this.#options.signal.throwIfAborted();
      const {bytesRead} = await this.#file.read(this.#chunk, 0, CHUNK, this.#position);
      if (bytesRead === 0) break;
      this.#take(this.#chunk.subarray(0, bytesRead));
      await this.#sink.ready();
    }
    return this.#position > before;
  }

  #take(chunk: Buffer): void {
    const text = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let offset = this.#position - this.#rest.length;
    let start = 0;
    for (let end = text.indexOf(NEWLINE); end !== -1; end = text.indexOf(NEWLINE, start)) {
      this.#line(text.subarray(start, end + 1), offset);
      offset += end + 1 - start;
      start = end + 1;
    }
    this.#writer.flush();
    // A copy, since the chunk's memory is read into again.
    this.#rest = Buffer.from(text.subarray(start));
    this.#position += chunk.length;
  }

  #line(text: Buffer, offset: number): void {
    const line = parseLine(text);
    if (line === undefined) this.unknownLines += 1;
    else if (!this.full && this.#isWanted(line, offset)) this.#writer.add(line);
  }

  #isWanted({stream}: LogLine, offset: number): boolean {
    return offset >= this.#starts[stream];
  }

  /** Takes what stands behind the last line end as a line. */
  finish(): void {
    if (this.#rest.length > 0) this.#line(this.#rest, this.#position - this.#rest.length);
    this.#rest = Buffer.alloc(0);
    this.#writer.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}
