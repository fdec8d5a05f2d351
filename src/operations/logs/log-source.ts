import type {Clock} from '../../base/clock.js';
import {ifPresent} from '../../base/fs/files.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {LineView, LogStream} from '../../cri/index.js';
import {LineReader} from './line-reader.js';
import {openLog, PlainLogFile} from './log-file.js';
import {isSameFile, LOCAL_LOG_FILES, type LogFiles, type LogFileState} from './log-files.js';
import type {LogReadStrategy} from './log-read-strategy.js';
import type {HistoryOptions, LogRange} from './log-ranges.js';
import {listRotatedSegments} from './rotated-segments.js';
import {isSelected, isPastTimeBound, logTime} from './log-selection.js';

/** Interval in milliseconds at which a followed log and its container are checked when there is no change. */
export const POLL_MS = 1000;
const FROM_START = {stdout: 0, stderr: 0};

/** State of a container whose log is followed. */
export type LogProgress =
  | {readonly kind: 'running'}
  /** May be restarted; `notice` is shown once. */
  | {readonly kind: 'waiting'; readonly notice: string}
  /** Was restarted and writes to another file. */
  | {readonly kind: 'restarted'; readonly path: string; readonly notice: string}
  | {readonly kind: 'ended'};

/** Options of following a log after its end. */
export interface FollowOptions {
  readonly clock: Clock;
  /** Returns the state of the container. Called when there is no output, at most once per `pollMs`. */
  readonly progress: () => Promise<LogProgress>;
  /** Returns the interval of these calls in milliseconds; POLL_MS by default. */
  readonly pollMs?: (() => number) | undefined;
}

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
  #starts: Readonly<Record<LogStream, number>> = FROM_START;
  #remainingLines = Infinity;
  /** True after a line in a known format. */
  #formatKnown = false;
  #finished = false;
  #following: boolean;
  /** Streams with an incomplete line, and whether that line is selected. */
  readonly #partialSelected: Record<LogStream, boolean | undefined> = {stdout: undefined, stderr: undefined};
  #rotated: ReadonlySet<string> = new Set();
  #nextStep: LogProgress | undefined;
  #waiting = false;
  #askedAt = -Infinity;

  private constructor(path: string, options: LogSourceOptions) {
    this.#path = path;
    this.#options = options;
    this.#following = options.follow !== undefined;
  }

  /** Opens the log at a path. Rejects with the strategy's error if it cannot be read. */
  static async open(path: string, options: LogSourceOptions): Promise<LogSource> {
    const source = new LogSource(path, options);
    try {
      await source.#enqueue(path, options);
      return source;
    } catch (error) {
      await source[Symbol.asyncDispose]();
      throw options.strategy.failure(path, error, options.files);
    }
  }

  get #files(): LogFiles {
    return this.#options.files ?? LOCAL_LOG_FILES;
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
    const {follow, until} = this.#options;
    if (follow === undefined || !this.#following) return false;
    if ((await this.#checkRotation()) || (await this.#takeNextStep())) return true;
    const now = follow.clock.now();
    if (until !== undefined && isPastTimeBound(logTime(BigInt(Math.trunc(now)) * 1_000_000n), until))
      this.#nextStep = {kind: 'ended'};
    else if (follow.clock.monotonic() - this.#askedAt >= (follow.pollMs?.() ?? POLL_MS)) {
      this.#askedAt = follow.clock.monotonic();
      this.#setProgress(await follow.progress());
    }
    // Output from before the exit is read in the next round.
    return this.#nextStep !== undefined;
  }

  #setProgress(progress: LogProgress): void {
    if (progress.kind === 'waiting' && !this.#waiting) this.notices.push(progress.notice);
    this.#waiting = progress.kind === 'waiting';
    if (progress.kind === 'restarted' || progress.kind === 'ended') this.#nextStep = progress;
  }

  /** Follows the restart or ends the log, after everything written before has been read. */
  async #takeNextStep(): Promise<boolean> {
    const step = this.#nextStep;
    if (step === undefined) return false;
    this.#nextStep = undefined;
    if (step.kind === 'restarted') {
      const {streams, until, signal, files} = this.#options;
      await this.#enqueue(step.path, {streams, until, signal, files});
      this.#path = step.path;
      this.notices.push(step.notice);
    } else this.#following = false;
    return true;
  }

  async #enqueue(path: string, history: HistoryOptions): Promise<void> {
    const {strategy, follow} = this.#options;
    const followed = follow !== undefined;
    const {ranges, skipped} = await strategy.findRanges(path, {...history, followed});
    this.#queue.push(...ranges);
    this.notices.push(...skipped);
    if (followed) this.#rotated = new Set(await listRotatedSegments(path, this.#files));
  }

  /** Checks whether the log was rotated or truncated. */
  async #checkRotation(): Promise<boolean> {
    const reader = this.#reader;
    const stats = await this.#files.stat(this.#path);
    // The file does not exist between the rename of a rotation and the creation of the new file.
    if (reader === undefined || stats === undefined) return false;
    const current = await reader.file.state();
    if (!isSameFile(stats, current)) {
      await this.#enqueueRotated(current);
      return true;
    }
    if (stats.size >= reader.position) return false;
    await this.#open({file: await openLog(this.#path, this.#options), starts: FROM_START});
    return true;
  }

  /** Enqueues files that were created and rotated between two checks, and the current file. */
  async #enqueueRotated(current: LogFileState): Promise<void> {
    const {strategy} = this.#options;
    const rotated = strategy.readsRotated ? await listRotatedSegments(this.#path, this.#files) : [];
    for (const path of await this.#newer(rotated, current)) {
      const file = await ifPresent(() => PlainLogFile.open(path, this.#options));
      if (file !== undefined) this.#queue.push({file, starts: FROM_START});
    }
    this.#rotated = new Set(rotated);
    const file = await ifPresent(() => openLog(this.#path, this.#options));
    if (file !== undefined) this.#queue.push({file, starts: FROM_START});
  }

  /**
   * Returns the rotated files that were written after the current one. Docker renames all rotated files, so
   * that names are only compared if that file no longer exists.
   */
  async #newer(rotated: readonly string[], open: LogFileState): Promise<readonly string[]> {
    const plain = rotated.filter((path) => !path.endsWith('.gz'));
    const states = await Promise.all(plain.map(async (path) => await this.#files.stat(path)));
    const current = states.findLastIndex((state) => state !== undefined && isSameFile(state, open));
    return current === -1 ? plain.filter((path) => !this.#rotated.has(path)) : plain.slice(current + 1);
  }

  /** Continues after the end of a file. Returns false if there is nothing more for now. */
  async #openNext(): Promise<boolean> {
    const next = this.#queue[0];
    if (next === undefined && this.#following) return false;
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
