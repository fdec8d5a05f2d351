import type {LineView, LogStream} from '../../cri/index.js';
import {isSelected, type LogSelection} from './selection.js';
import {LINE_END, timeText, type LogWriter} from './writer.js';

/** Writes the lines of one log. */
export interface Pen {
  add(line: LineView): void;
  /** Nothing more is at hand: what was held back is written. */
  idle(): void;
}

/** How lines are written. */
export interface PenOptions {
  /** Put each line's time in front, with all nine digits of the fraction, so that lines align. */
  readonly timestamps?: boolean | undefined;
  /** Put this in front of each line; other pens' lines then never stand in the same line. */
  readonly prefix?: string | undefined;
}

/** So much of a line that comes in parts is held back until it is whole. */
const LONGEST_HELD = 256 * 1024;

/** A line that comes in parts. */
interface Unfinished {
  readonly held: Buffer[];
  heldLength: number;
  /** It has been begun and not ended. */
  begun: boolean;
  /** Its beginning has been written. */
  written: boolean;
}

const unfinished = (): Unfinished => ({held: [], heldLength: 0, begun: false, written: false});

/** Joins lines that were written in parts per stream: they come whole, whatever was written between the parts. */
export class JoiningPen implements Pen {
  readonly #writer: LogWriter;
  readonly #timestamps: boolean;
  readonly #prefix: Buffer | undefined;
  readonly #unfinished = {stdout: unfinished(), stderr: unfinished()} satisfies Record<LogStream, unknown>;

  constructor(writer: LogWriter, {timestamps = false, prefix}: PenOptions) {
    this.#writer = writer;
    this.#timestamps = timestamps;
    this.#prefix = prefix === undefined ? undefined : Buffer.from(prefix);
  }

  add(line: LineView): void {
    const {stream, partial} = line;
    const state = this.#unfinished[stream];
    if (!partial && !state.begun) {
      this.#claim(stream, state);
      if (this.#prefix !== undefined) this.#writer.put(stream, this.#prefix);
      if (this.#timestamps) this.#writer.putTime(line);
      this.#writer.putContent(line);
      return;
    }
    this.#hold(line, state);
    if (!partial || state.heldLength > LONGEST_HELD) this.#release(stream, state);
    state.begun = partial;
    if (!partial) state.written = false;
  }

  idle(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const state = this.#unfinished[stream];
      if (state.held.length > 0) this.#release(stream, state);
    }
  }

  #hold(line: LineView, state: Unfinished): void {
    const {held} = state;
    if (!state.begun && this.#prefix !== undefined) held.push(this.#prefix);
    if (!state.begun && this.#timestamps) held.push(timeText(line));
    held.push(Buffer.from(line.bytes.subarray(line.from, line.to)));
    state.heldLength += line.to - line.from;
  }

  #release(stream: LogStream, state: Unfinished): void {
    this.#claim(stream, state);
    for (const bytes of state.held.splice(0)) this.#writer.put(stream, bytes);
    state.heldLength = 0;
    state.written = true;
  }

  /** Sees to it that another pen's unfinished line doesn't go on with this one's, where prefixes tell them apart. */
  #claim(stream: LogStream, state: Unfinished): void {
    if (this.#prefix === undefined) return;
    const place = this.#writer.place(stream);
    if (place.lastBy !== state && !place.atLineStart) this.#writer.put(stream, LINE_END);
    if (place.lastBy !== state && state.written) this.#writer.put(stream, this.#prefix);
    place.lastBy = state;
  }
}

/**
 * Writes lines as crictl does: parts follow each other as they stand in the file, whichever stream they are of, and
 * lines that are left out have a say in where a line starts too.
 */
export class CrictlPen implements Pen {
  readonly #writer: LogWriter;
  readonly #timestamps: boolean;
  readonly #selection: LogSelection;
  #atLineStart = true;

  constructor(writer: LogWriter, {timestamps = false, ...selection}: PenOptions & LogSelection) {
    this.#writer = writer;
    this.#timestamps = timestamps;
    this.#selection = selection;
  }

  add(line: LineView): void {
    const {bytes, from, to} = line;
    if (isSelected(line, this.#selection)) {
      if (this.#timestamps && this.#atLineStart) this.#writer.putTime(line);
      this.#writer.putContent(line);
    }
    this.#atLineStart = from === to || bytes[to - 1] === LINE_END[0];
  }

  idle(): void {
    // Nothing is held back.
  }
}
