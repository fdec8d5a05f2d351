import {LineView} from '../../cri/index.js';
import type {LogFile} from './log-file.js';

const PAGE = 256 * 1024;
const NEWLINE = 0x0a;
/** A longer line is given in pieces. */
const LONGEST_LINE = 1024 * 1024;

/** How a file is read. */
interface LineReaderOptions {
  /** Where in the file the reading begins. */
  readonly position?: number;
  /** How much is read at once, at least a line's usual length. */
  readonly pageBytes?: number | undefined;
}

/**
 * Gives the lines of a log file one after the other, in `line`. Memory does not grow with the file, nor with its
 * lines: one that is very long comes in pieces, as if it had been written in parts.
 */
export class LineReader {
  /** The line that `next` came to; it holds until `fill` is called. */
  readonly line = new LineView();
  /** Where in the file that line begins. */
  lineStart = 0;
  /** Whether it is in a known format; where not, only `raw` tells of it. */
  known = true;
  /** Where in the file the next byte is to be read. */
  position: number;
  readonly file: LogFile;
  #page: Buffer;
  /** What of the page is filled, and how far it has been given. */
  #text: Buffer;
  #next = 0;
  #long: 'skipped' | 'given' | undefined;
  #longPartial = false;

  constructor(file: LogFile, {position = 0, pageBytes = PAGE}: LineReaderOptions = {}) {
    this.file = file;
    this.position = position;
    this.#page = Buffer.allocUnsafeSlow(pageBytes);
    this.#text = this.#page.subarray(0, 0);
  }

  /** Goes to the next line that has been read whole. False when there is none: then `fill`. */
  next(): boolean {
    for (;;) {
      const newline = this.#text.indexOf(NEWLINE, this.#next);
      if (newline === -1 && !this.#isLong()) return false;
      const end = newline === -1 ? this.#text.length : newline + 1;
      if (this.#take(end, newline !== -1)) return true;
    }
  }

  /** Takes what stands behind the last line's end as a line. False when there is nothing. */
  finish(): boolean {
    return this.#next < this.#text.length && this.#take(this.#text.length, true);
  }

  /** The bytes of the line, for those in no known format. */
  raw(): Buffer {
    return this.#text.subarray(this.lineStart - this.#textStart, this.#next);
  }

  /** Reads more of the file. False at its end. */
  async fill(): Promise<boolean> {
    const rest = this.#text.length - this.#next;
    if (rest === this.#page.length && rest < LONGEST_LINE) this.#grow();
    else this.#page.copyWithin(0, this.#next, this.#text.length);
    const count = await this.file.read(this.#page, rest);
    this.position += count;
    this.#text = this.#page.subarray(0, rest + count);
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

  /** True when the page holds nothing but one line, and it should be given although it has no end yet. */
  #isLong(): boolean {
    return this.#text.length > this.#next && this.#next === 0 && this.#text.length >= LONGEST_LINE;
  }

  /** Goes on behind `end`. False for what is left out: the rest of a long line in no known format. */
  #take(end: number, ended: boolean): boolean {
    const start = this.#next;
    this.lineStart = this.#textStart + start;
    this.#next = end;
    const long = this.#long;
    this.#long = ended ? undefined : (long ?? 'given');
    if (long === undefined) this.#scan(start, end, ended);
    else if (long === 'given') this.#goOn(start, end, ended);
    return long !== 'skipped';
  }

  #scan(start: number, end: number, ended: boolean): void {
    this.known = this.line.scan(this.#text, start, end);
    if (ended) return;
    if (!this.known) this.#long = 'skipped';
    this.#longPartial = this.line.partial;
    this.line.partial = true;
    // The place of the time in the page is written over before the line ends.
    this.line.timeBytes = Buffer.from(this.line.timeBytes.subarray(this.line.timeFrom, this.line.timeTo));
    this.line.timeTo -= this.line.timeFrom;
    this.line.timeFrom = 0;
  }

  /** The next piece of a long line, whose stream and time are known. */
  #goOn(start: number, end: number, ended: boolean): void {
    const {line} = this;
    line.bytes = this.#text;
    line.from = start;
    line.partial = !ended || this.#longPartial;
    line.to = ended && this.#longPartial && this.#text[end - 1] === NEWLINE ? end - 1 : end;
  }
}
