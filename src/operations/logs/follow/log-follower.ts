import {ifPresent} from '../../../base/fs/if-present.js';
import {openLog} from '../history/open-log.js';
import {PlainLogFile, type LogFile} from '../log-file.js';
import {isSameFile, LOCAL_LOG_FILES, type LogFileState} from '../log-files.js';
import {FROM_START, type HistoryOptions, type LogRange} from '../log-range.js';
import {isPastTimeBound, logTime} from '../log-selection.js';
import {listRotatedSegments} from '../rotated-segments.js';
import {POLL_MS, type FollowOptions, type LogProgress} from './follow-options.js';

/** The reading of a log that a LogFollower continues. */
export interface FollowedReading {
  /** Messages to show before the next line. */
  readonly notices: string[];
  /** Returns the file that is read and the offset of the next read; undefined before the first file is opened. */
  current(): {readonly file: LogFile; readonly position: number} | undefined;
  /** Reads a range after those that wait. */
  enqueue(range: LogRange): void;
  /** Reads the log of the next attempt of the container after what waits. */
  enqueueLog(path: string, history: HistoryOptions): Promise<void>;
  /** Reads a range at once, in place of the current file. */
  replace(range: LogRange): Promise<void>;
}

/** Options of a LogFollower. */
export interface LogFollowerOptions extends HistoryOptions {
  readonly follow: FollowOptions;
  /** True if rotated files are read too. */
  readonly readsRotated: boolean;
}

/** Continues the reading of a log after its end: in the files that replace it, and in those of restarted containers. */
export class LogFollower {
  /** False if no more lines follow those that wait. */
  isFollowing = true;
  readonly #reading: FollowedReading;
  readonly #options: LogFollowerOptions;
  #path: string;
  #rotated: ReadonlySet<string> = new Set();
  #nextStep: LogProgress | undefined;
  #waiting = false;
  #askedAt = -Infinity;

  constructor(path: string, reading: FollowedReading, options: LogFollowerOptions) {
    this.#path = path;
    this.#reading = reading;
    this.#options = options;
  }

  /** Records the rotated files that a log has now. */
  async noteRotated(path: string): Promise<void> {
    this.#rotated = new Set(await listRotatedSegments(path, this.#options.files));
  }

  /** Checks an idle log for changes. Resolves with true if reading must continue immediately. */
  async poll(): Promise<boolean> {
    const {follow, until} = this.#options;
    if (!this.isFollowing) return false;
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
    if (progress.kind === 'waiting' && !this.#waiting) this.#reading.notices.push(progress.notice);
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
      await this.#reading.enqueueLog(step.path, {streams, until, signal, files});
      this.#path = step.path;
      this.#reading.notices.push(step.notice);
    } else this.isFollowing = false;
    return true;
  }

  /** Checks whether the log was rotated or truncated. */
  async #checkRotation(): Promise<boolean> {
    const current = this.#reading.current();
    const {files = LOCAL_LOG_FILES} = this.#options;
    const stats = await files.stat(this.#path);
    // The file does not exist between the rename of a rotation and the creation of the new file.
    if (current === undefined || stats === undefined) return false;
    const state = await current.file.state();
    if (!isSameFile(stats, state)) {
      await this.#enqueueRotated(state);
      return true;
    }
    if (stats.size >= current.position) return false;
    await this.#reading.replace({file: await openLog(this.#path, this.#options), starts: FROM_START});
    return true;
  }

  /** Enqueues files that were created and rotated between two checks, and the current file. */
  async #enqueueRotated(current: LogFileState): Promise<void> {
    const {readsRotated, files} = this.#options;
    const rotated = readsRotated ? await listRotatedSegments(this.#path, files) : [];
    for (const path of await this.#newer(rotated, current)) {
      const file = await ifPresent(() => PlainLogFile.open(path, this.#options));
      if (file !== undefined) this.#reading.enqueue({file, starts: FROM_START});
    }
    this.#rotated = new Set(rotated);
    const file = await ifPresent(() => openLog(this.#path, this.#options));
    if (file !== undefined) this.#reading.enqueue({file, starts: FROM_START});
  }

  /**
   * Returns the rotated files that were written after the current one. Docker renames all rotated files, so
   * that names are only compared if that file no longer exists.
   */
  async #newer(rotated: readonly string[], open: LogFileState): Promise<readonly string[]> {
    const {files = LOCAL_LOG_FILES} = this.#options;
    const plain = rotated.filter((path) => !path.endsWith('.gz'));
    const states = await Promise.all(plain.map(async (path) => await files.stat(path)));
    const current = states.findLastIndex((state) => state !== undefined && isSameFile(state, open));
    return current === -1 ? plain.filter((path) => !this.#rotated.has(path)) : plain.slice(current + 1);
  }
}
