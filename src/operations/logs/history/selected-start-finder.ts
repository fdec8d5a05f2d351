import {LineReader} from '../line-reader.js';
import {PlainLogFile, type LogFile} from '../log-file.js';
import {FROM_START, type HistoryOptions, type StartFinder, type StreamStarts} from '../log-range.js';
import {compareTimes, lowerTimeBound, upperTimeBound, type LogTime} from '../log-selection.js';
import {findTime, firstTime, SEEK_BLOCK_BYTES} from './find-time.js';
import {openLog} from './open-log.js';
import {TailFinder} from './tail-finder.js';

/** Finds the first lines that --since and --tail select. */
export class SelectedStartFinder implements StartFinder {
  readonly #options: HistoryOptions;
  readonly #earliest: LogTime | undefined;
  readonly #tail: TailFinder | undefined;
  /** True if older files contain no selected lines. */
  #isFirst = false;

  constructor(options: HistoryOptions) {
    const {since, tailLines} = options;
    this.#options = options;
    this.#earliest = since && lowerTimeBound(since);
    this.#tail = tailLines === undefined ? undefined : new TailFinder(tailLines, options);
  }

  get done(): boolean {
    return this.#isFirst || this.#tail?.done === true;
  }

  async find(file: LogFile): Promise<StreamStarts> {
    const earliest = this.#earliest;
    const isFirst = earliest !== undefined && (await this.#startsBefore(file, earliest));
    const starts = await this.#startsIn(file, isFirst ? earliest : undefined);
    this.#isFirst = isFirst;
    return starts;
  }

  /** Returns the starts in a file; `earliest` is defined if the file also has lines before that time. */
  async #startsIn(file: LogFile, earliest: LogTime | undefined): Promise<StreamStarts> {
    const tail = this.#tail;
    if (!(file instanceof PlainLogFile))
      return (await tail?.addGzipped(async () => await openLog(file.path, this.#options))) ?? FROM_START;
    const size = await file.size();
    const start = earliest === undefined ? 0 : await findTime(file, size, earliest);
    const last = await tail?.addPlain(file, await this.#endOf(file, size));
    return {stdout: Math.max(start, last?.stdout ?? 0), stderr: Math.max(start, last?.stderr ?? 0)};
  }

  async #startsBefore(file: LogFile, time: LogTime): Promise<boolean> {
    const first = await this.#firstTimeOf(file);
    return first !== undefined && compareTimes(first, time) < 0;
  }

  async #firstTimeOf(file: LogFile): Promise<LogTime | undefined> {
    if (file instanceof PlainLogFile) return await firstTime(file);
    await using reopened = await openLog(file.path, this.#options);
    const reader = new LineReader(reopened);
    do {
      while (reader.next()) if (reader.known) return {seconds: reader.line.seconds, nanos: reader.line.nanos};
    } while (await reader.fill());
    return undefined;
  }

  /** Returns an offset after all selected lines. */
  async #endOf(file: PlainLogFile, size: number): Promise<number> {
    const {until} = this.#options;
    if (until === undefined) return size;
    return Math.min(size, (await findTime(file, size, upperTimeBound(until))) + SEEK_BLOCK_BYTES);
  }
}
