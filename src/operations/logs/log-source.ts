import {stat} from 'node:fs/promises';
import type {Clock} from '../../base/clock.js';
import {ifPresent} from '../../base/files.js';
import {systemReason} from '../../base/system-reason.js';
import type {LineView, LogStream} from '../../cri/index.js';
import {LineReader} from './line-reader.js';
import {openLog, PlainLogFile} from './log-file.js';
import type {LogManner} from './manner.js';
import type {HistoryOptions, Stretch} from './plan.js';
import {rotatedSegments} from './segments.js';
import {isSelected, isSurelyPast, logTime} from './selection.js';

/** How often a followed log and its container are looked at when nothing is noticed. */
export const POLL_MS = 1000;
const FROM_START = {stdout: 0, stderr: 0};

/** What has become of a container whose log is followed. */
export type LogProgress =
  | {readonly kind: 'running'}
  /** It may be started again; `notice` is told once. */
  | {readonly kind: 'waiting'; readonly notice: string}
  /** It runs again and writes to another file. */
  | {readonly kind: 'restarted'; readonly path: string; readonly notice: string}
  | {readonly kind: 'ended'};

/** Going on after the end of the file. */
export interface FollowOptions {
  readonly clock: Clock;
  /** Asked when the log is quiet, at most once in POLL_MS. */
  readonly progress: () => Promise<LogProgress>;
}

/** How a log is read. */
export interface LogSourceOptions extends HistoryOptions {
  readonly manner: LogManner;
  readonly follow?: FollowOptions | undefined;
  /** How much is read at once. */
  readonly pageBytes?: number | undefined;
}

/**
 * One container's log as one run of lines: the files that it was rotated into, the one that is written to, and when
 * it is followed those that take its place. Where there is a line, `line` is it; `advance` goes on without waiting,
 * `fill` reads.
 */
export class LogSource implements AsyncDisposable {
  /** A wanted line is at hand. */
  hasLine = false;
  /** No line will come any more. */
  ended = false;
  /** Lines in no known format, which are left out. */
  unknownLines = 0;
  /** What is to be told before the next line is written; whoever tells it takes it out. */
  readonly notices: string[] = [];
  #path: string;
  readonly #options: LogSourceOptions;
  #queue: Stretch[];
  #reader: LineReader | undefined;
  #starts: Readonly<Record<LogStream, number>> = FROM_START;
  #linesLeft = Infinity;
  /** A line in a known format was there. */
  #understood = false;
  #finished = false;
  #following: boolean;
  /** Whether the line goes on that was begun on a stream, and if so whether it is wanted. */
  readonly #continued: Record<LogStream, boolean | undefined> = {stdout: undefined, stderr: undefined};
  #rotated: ReadonlySet<string> = new Set();
  #verdict: LogProgress | undefined;
  #waiting = false;
  #askedAt = -Infinity;

  private constructor(path: string, options: LogSourceOptions, stretches: readonly Stretch[]) {
    this.#path = path;
    this.#options = options;
    this.#queue = [...stretches];
    this.#following = options.follow !== undefined;
  }

  /** Opens the log of a path. Rejects with the manner's error when it can't be read. */
  static async open(path: string, options: LogSourceOptions): Promise<LogSource> {
    try {
      const source = new LogSource(path, options, []);
      await source.#enqueue(path, options);
      return source;
    } catch (error) {
      throw options.manner.failure(path, error);
    }
  }

  /** The line at hand, valid until the next call of any method. */
  get line(): LineView {
    if (this.#reader === undefined) throw new Error('a log that was not filled has no line');
    return this.#reader.line;
  }

  /** Goes to the next wanted line of those that have been read. False when there is none. */
  advance(): boolean {
    const reader = this.#reader;
    while (reader !== undefined && !this.ended && reader.next())
      if (this.#isWanted(reader)) return (this.hasLine = true);
    return (this.hasLine = false);
  }

  /** Reads until a wanted line is at hand, or there is nothing more for now. */
  async fill(): Promise<void> {
    try {
      while (!this.hasLine && !this.ended && (await this.#step()));
    } catch (error) {
      throw this.#options.manner.failure(this.#path, error);
    }
  }

  /** False when there is nothing more for now. */
  async #step(): Promise<boolean> {
    if (this.advance() || this.ended) return true;
    return (await this.#readOn()) || (await this.#goOn());
  }

  /** Reads more of the file. False at its end, also where a file that was rotated is broken. */
  async #readOn(): Promise<boolean> {
    const reader = this.#reader;
    if (reader === undefined) return false;
    try {
      return await reader.fill();
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (this.#queue.length === 0) throw error;
      this.notices.push(`left out the rest of "${reader.file.path}": ${systemReason(error)}`);
      return false;
    }
  }

  /** To be called when a followed log has no line: true when it should be filled again at once. */
  async look(): Promise<boolean> {
    const {follow, until} = this.#options;
    if (follow === undefined || !this.#following) return false;
    if ((await this.#rotation()) || (await this.#act())) return true;
    const now = follow.clock.now();
    if (until !== undefined && isSurelyPast(logTime(BigInt(Math.trunc(now)) * 1_000_000n), until))
      this.#verdict = {kind: 'ended'};
    else if (now - this.#askedAt >= POLL_MS) {
      this.#askedAt = now;
      this.#judge(await follow.progress());
    }
    // What was written before it ended is read in the next round.
    return this.#verdict !== undefined;
  }

  #judge(progress: LogProgress): void {
    if (progress.kind === 'waiting' && !this.#waiting) this.notices.push(progress.notice);
    this.#waiting = progress.kind === 'waiting';
    if (progress.kind === 'restarted' || progress.kind === 'ended') this.#verdict = progress;
  }

  /** Does what the verdict on the container asks for, now that all it has written is read. */
  async #act(): Promise<boolean> {
    const verdict = this.#verdict;
    if (verdict === undefined) return false;
    this.#verdict = undefined;
    if (verdict.kind === 'restarted') {
      const {streams, until, signal} = this.#options;
      await this.#enqueue(verdict.path, {streams, until, signal});
      this.#path = verdict.path;
      this.notices.push(verdict.notice);
    } else this.#following = false;
    return true;
  }

  async #enqueue(path: string, history: HistoryOptions): Promise<void> {
    const {manner, follow} = this.#options;
    const followed = follow !== undefined;
    const {stretches, skipped} = await manner.plan(path, {...history, followed});
    this.#queue.push(...stretches);
    this.notices.push(...skipped);
    if (followed) this.#rotated = new Set(await rotatedSegments(path));
  }

  /** Notices that the log was rotated or cut. */
  async #rotation(): Promise<boolean> {
    const reader = this.#reader;
    const found = await ifPresent(() => stat(this.#path));
    // Between the rotation's rename and the new file nothing is there.
    if (reader === undefined || found === undefined) return false;
    if (found.ino !== reader.file.inode) {
      await this.#enqueueRotated(reader.file.inode);
      return true;
    }
    if (found.size >= reader.position) return false;
    await this.#open({file: await openLog(this.#path, this.#options.signal), starts: FROM_START});
    return true;
  }

  /** Files that came and went between two looks, and the one that is written to now. */
  async #enqueueRotated(inode: number): Promise<void> {
    const {manner, signal} = this.#options;
    const rotated = manner.readsRotated ? await rotatedSegments(this.#path) : [];
    for (const path of await this.#newer(rotated, inode)) {
      const file = await ifPresent(() => PlainLogFile.open(path, signal));
      if (file !== undefined) this.#queue.push({file, starts: FROM_START});
    }
    this.#rotated = new Set(rotated);
    const file = await ifPresent(() => openLog(this.#path, signal));
    if (file !== undefined) this.#queue.push({file, starts: FROM_START});
  }

  /**
   * Those of the rotated files that were written after the one with that inode. Docker's take the names of each other,
   * so that names tell them apart only when that one is gone.
   */
  async #newer(rotated: readonly string[], inode: number): Promise<readonly string[]> {
    const plain = rotated.filter((path) => !path.endsWith('.gz'));
    const inodes = await Promise.all(plain.map(async (path) => (await ifPresent(() => stat(path)))?.ino));
    const current = inodes.lastIndexOf(inode);
    return current === -1 ? plain.filter((path) => !this.#rotated.has(path)) : plain.slice(current + 1);
  }

  /** Goes on behind the end of a file. False when there is nothing more for now. */
  async #goOn(): Promise<boolean> {
    const next = this.#queue[0];
    if (next === undefined && this.#following) return false;
    const reader = this.#reader;
    if (reader !== undefined && !this.#finished && this.#finishes) {
      this.#finished = true;
      if (reader.finish() && this.#isWanted(reader)) return (this.hasLine = true);
    }
    this.ended = next === undefined;
    if (next === undefined) return false;
    this.#queue.shift();
    await this.#open(next);
    return true;
  }

  /** Whether what stands behind the last line's end counts. */
  get #finishes(): boolean {
    return this.#options.follow === undefined || this.#options.manner.finishesFollowed;
  }

  async #open({file, starts, lines = Infinity}: Stretch): Promise<void> {
    await this.#reader?.file[Symbol.asyncDispose]();
    const from = Math.min(starts.stdout, starts.stderr);
    if (file instanceof PlainLogFile) file.seek(from);
    this.#reader = new LineReader(file, {
      position: file instanceof PlainLogFile ? from : 0,
      pageBytes: this.#options.pageBytes,
    });
    this.#starts = starts;
    this.#finished = false;
    this.#linesLeft = lines;
    this.ended = lines <= 0;
  }

  #isWanted(reader: LineReader): boolean {
    if (!reader.known) {
      if (!this.#understood) this.#options.manner.refuseLog?.(reader.raw());
      this.unknownLines += 1;
      return false;
    }
    this.#understood = true;
    this.#linesLeft -= 1;
    if (this.#linesLeft <= 0) this.ended = true;
    const {line} = reader;
    if (isSurelyPast(line, this.#options.until)) {
      this.ended = true;
      return false;
    }
    const {stream, partial} = line;
    const wanted =
      this.#continued[stream] ??
      (reader.lineStart >= this.#starts[stream] && isSelected(line, this.#options));
    this.#continued[stream] = partial ? wanted : undefined;
    return wanted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const files = [this.#reader?.file, ...this.#queue.map(({file}) => file)];
    for (const file of files) await file?.[Symbol.asyncDispose]();
  }
}
