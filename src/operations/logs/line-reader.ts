import {LineView} from '../../cri/index.js';
import type {LogFile} from './log-file.js';

const PAGE_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Lines above this length are returned in parts. */
const MAX_LINE_BYTES = 1024 * 1024;

/** Options of a LineReader. */
interface LineReaderOptions {
  /** Offset in the file at which to start. */
  readonly position?: number;
  /** Number of bytes to read at once, at least the usual length of a line. */
  readonly pageBytes?: number | undefined;
}

/**
 * Reads the lines of a log file one by one into `line`. Memory usage does not depend on the size of the file or its
 * lines: very long lines are returned in parts, as if they had been written so.
 */
export class LineReader {
  /** The current line, valid until the next call of `fill`. */
  readonly line = new LineView();
  /** Offset of the current line in the file. */
  lineStart = 0;
  /** True if the current line has a known format; otherwise only `raw` is valid. */
  known = true;
  /** Offset in the file of the next read. */
  position: number;
  readonly file: LogFile;
  #page: Buffer;
  /** Filled part of the page, and the offset of the next line in it. */
  #text: Buffer;
  #next = 0;
  #long: 'skipped' | 'returned' | undefined;
  #longPartial = false;

  constructor(file: LogFile, {position = 0, pageBytes = PAGE_BYTES}: LineReaderOptions = {}) {
    this.file = file;
    this.position = position;
    this.#page = Buffer.allocUnsafeSlow(pageBytes);
    this.#text = this.#page.subarray(0, 0);
  }

  /** Advances to the next complete line in the page. Returns false if there is none; then call `fill`. */
  next(): boolean {
    for (;;) {
      const newline = this.#text.indexOf(NEWLINE, this.#next);
      if (newline === -1 && !this.#isLong()) return false;
      const end = newline === -1 ? this.#text.length : newline + 1;
      if (this.#take(end, newline !== -1)) return true;
    }
  }

  /** Takes the text after the last newline as a line. Returns false if there is none. */
  finish(): boolean {
    return this.#next < this.#text.length && this.#take(this.#text.length, true);
  }

  /** Returns the bytes of the current line, for lines in an unknown format. */
  raw(): Buffer {
    return this.#text.subarray(this.lineStart - this.#textStart, this.#next);
  }

  /** Reads more of the file. Returns false at its end. */
  async fill(): Promise<boolean> {
    const unread = this.#text.length - this.#next;
    if (unread === this.#page.length && unread < MAX_LINE_BYTES) this.#grow();
    else this.#page.copyWithin(0, this.#next, this.#text.length);
    const count = await this.file.read(this.#page, unread);
    this.position += count;
    this.#text = this.#page.subarray(0, unread + count);
    this.#next = 0;
    return count > 0;
  }

  get #textStart(): number {
    return this.position - this.#text.length;
  }

  #grow(): void {
    const page = Buffer.allocUnsafeSlow(this.#page.length * 2);
    this.#page.copy(page);
    this.#page = page;
  }

  /** Reports whether the page contains only a part of a long line that must be returned now. */
  #isLong(): boolean {
    return this.#text.length > this.#next && this.#next === 0 && this.#text.length >= MAX_LINE_BYTES;
  }

  /** Continues after `end`. Returns false for a part to skip, the rest of a long line in an unknown format. */
  #take(end: number, ended: boolean): boolean {
    const start = this.#next;
    this.lineStart = this.#textStart + start;
    this.#next = end;
    const long = this.#long;
    this.#long = ended ? undefined : (long ?? 'returned');
    if (long === undefined) this.#scan(start, end, ended);
    else if (long === 'returned') this.#continueLine(start, end, ended);
    return long !== 'skipped';
  }

  #scan(start: number, end: number, ended: boolean): void {
    this.known = this.line.scan(this.#text, start, end);
    if (ended) return;
    if (!this.known) this.#long = 'skipped';
    this.#longPartial = this.line.partial;
    this.line.partial = true;
    // The bytes of the time are overwritten before the line ends.
    this.line.timeBytes = Buffer.from(this.line.timeBytes.subarray(this.line.timeFrom, this.line.timeTo));
    this.line.timeTo -= this.line.timeFrom;
    this.line.timeFrom = 0;
  }

  /** Sets the next part of a long line, whose stream and time are already known. */
  #continueLine(start: number, end: number, ended: boolean): void {
    const {line} = this;
    line.bytes = this.#text;
    line.from = start;
    line.partial = !ended || this.#longPartial;
    line.to = ended && this.#longPartial && this.#text[end - 1] === NEWLINE ? end - 1 : end;
  }
}
