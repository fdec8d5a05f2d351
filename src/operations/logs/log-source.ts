import {systemErrorMessage} from '../../base/system-error-message.js';
import type {LineView, LogStream} from '../../cri/index.js';
import type {FollowOptions} from './follow/follow-options.js';
import type {LogFollower} from './follow/log-follower.js';
import {LineReader} from './line-reader.js';
import {PlainLogFile} from './log-file.js';
import {FROM_START, type HistoryOptions, type LogRange, type StreamStarts} from './log-range.js';
import type {LogReadStrategy} from './log-read-strategy.js';
import {isSelected, isPastTimeBound} from './log-selection.js';

/** Options of a LogSource. */
export interface LogSourceOptions extends HistoryOptions {
  readonly strategy: LogReadStrategy;
  readonly follow?: FollowOptions | undefined;
  /** Number of bytes to read at once. */
  readonly pageBytes?: number | undefined;
}

/**
 * One container's log as a single sequence of lines: its rotated files, the current file and, when followed, the
 * files that replace it. `line` is the current line if `hasLine`; `advance` continues without waiting, `fill` reads.
 */
export class LogSource implements AsyncDisposable {
  /** True if `line` is a selected line. */
  hasLine = false;
  /** True if no more lines follow. */
  ended = false;
  /** Number of skipped lines in an unknown format. */
  unknownLines = 0;
  /** Messages to show before the next line; the reader removes them. */
  readonly notices: string[] = [];
  #path: string;
  readonly #options: LogSourceOptions;
  readonly #queue: LogRange[] = [];
  #reader: LineReader | undefined;
  #starts: StreamStarts = FROM_START;
  #remainingLines = Infinity;
  /** True after a line in a known format. */
  #formatKnown = false;
  #finished = false;
  #follower: LogFollower | undefined;
  /** Streams with an incomplete line, and whether that line is selected. */
  readonly #partialSelected: Record<LogStream, boolean | undefined> = {stdout: undefined, stderr: undefined};

  private constructor(path: string, options: LogSourceOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** Opens the log at a path. Rejects with the strategy's error if it cannot be read. */
  static async open(path: string, options: LogSourceOptions): Promise<LogSource> {
    const source = new LogSource(path, options);
    try {
      await source.#follow();
      await source.#enqueue(path, options);
      return source;
    } catch (error) {
      await source[Symbol.asyncDispose]();
      throw options.strategy.failure(path, error, options.files);
    }
  }

  /** The current line, valid until the next call of any method. */
  get line(): LineView {
    if (this.#reader === undefined) throw new Error('fill must return before line is read');
    return this.#reader.line;
  }

  /** Advances to the next selected line that has been read. Returns false if there is none. */
  advance(): boolean {
    const reader = this.#reader;
    while (reader !== undefined && !this.ended && reader.next())
      if (this.#isSelected(reader)) return (this.hasLine = true);
    return (this.hasLine = false);
  }

  /** Reads until there is a selected line, or nothing more for now. */
  async fill(): Promise<void> {
    try {
      while (!this.hasLine && !this.ended && (await this.#step()));
    } catch (error) {
      throw this.#options.strategy.failure(this.#path, error, this.#options.files);
    }
  }

  /** Returns false if there is nothing more for now. */
  async #step(): Promise<boolean> {
    if (this.advance() || this.ended) return true;
    return (await this.#readMore()) || (await this.#openNext());
  }

  /** Reads more of the file. Returns false at its end, and where a rotated file is corrupt. */
  async #readMore(): Promise<boolean> {
    const reader = this.#reader;
    if (reader === undefined) return false;
    try {
      return await reader.fill();
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (this.#queue.length === 0) throw error;
      this.notices.push(`skipped the rest of "${reader.file.path}": ${systemErrorMessage(error)}`);
      return false;
    }
  }

  /**
   * Checks a followed log without a line for changes. Resolves with true if it should be filled again immediately.
   */
  async poll(): Promise<boolean> {
    return (await this.#follower?.poll()) ?? false;
  }

  /** Loads what follows a log, if this one is followed. */
  async #follow(): Promise<void> {
    const {follow, strategy} = this.#options;
    if (follow === undefined) return;
    const {LogFollower: Follower} = await import('./follow/log-follower.js');
    const reading = {
      notices: this.notices,
      current: () => this.#reader,
      enqueue: (range: LogRange) => void this.#queue.push(range),
      enqueueLog: async (path: string, history: HistoryOptions) => {
        await this.#enqueue(path, history);
        this.#path = path;
      },
      replace: async (range: LogRange) => {
        await this.#open(range);
      },
    };
    this.#follower = new Follower(this.#path, reading, {
      ...this.#options,
      follow,
      readsRotated: strategy.readsRotated,
    });
  }

  async #enqueue(path: string, history: HistoryOptions): Promise<void> {
    const followed = this.#follower !== undefined;
    const {ranges, skipped} = await this.#options.strategy.findRanges(path, {...history, followed});
    this.#queue.push(...ranges);
    this.notices.push(...skipped);
    await this.#follower?.noteRotated(path);
  }

  /** Continues after the end of a file. Returns false if there is nothing more for now. */
  async #openNext(): Promise<boolean> {
    const next = this.#queue[0];
    if (next === undefined && this.#follower?.isFollowing === true) return false;
    const reader = this.#reader;
    if (reader !== undefined && !this.#finished && this.#finishes) {
      this.#finished = true;
      if (reader.finish() && this.#isSelected(reader)) return (this.hasLine = true);
    }
    this.ended = next === undefined;
    if (next === undefined) return false;
    this.#queue.shift();
    await this.#open(next);
    return true;
  }

  /** Reports whether text after the last newline counts as a line. */
  get #finishes(): boolean {
    return this.#options.follow === undefined || this.#options.strategy.finishesFollowed;
  }

  async #open({file, starts, lines = Infinity}: LogRange): Promise<void> {
    await this.#reader?.file[Symbol.asyncDispose]();
    const from = Math.min(starts.stdout, starts.stderr);
    if (file instanceof PlainLogFile) file.seek(from);
    this.#reader = new LineReader(file, {
      position: file instanceof PlainLogFile ? from : 0,
      pageBytes: this.#options.pageBytes,
    });
    this.#starts = starts;
    this.#finished = false;
    this.#remainingLines = lines;
    this.ended = lines <= 0;
  }

  #isSelected(reader: LineReader): boolean {
    if (!reader.known) {
      if (!this.#formatKnown) this.#options.strategy.refuseLog?.(reader.raw());
      this.unknownLines += 1;
      return false;
    }
    this.#formatKnown = true;
    this.#remainingLines -= 1;
    if (this.#remainingLines <= 0) this.ended = true;
    const {line} = reader;
    if (isPastTimeBound(line, this.#options.until)) {
      this.ended = true;
      return false;
    }
    const {stream, partial} = line;
    const selected =
      this.#partialSelected[stream] ??
      (reader.lineStart >= this.#starts[stream] && isSelected(line, this.#options));
    this.#partialSelected[stream] = partial ? selected : undefined;
    return selected;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const files = [this.#reader?.file, ...this.#queue.map(({file}) => file)];
    for (const file of files) await file?.[Symbol.asyncDispose]();
  }
}
