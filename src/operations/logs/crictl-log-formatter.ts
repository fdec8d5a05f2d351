import type {LineView} from '../../cri/index.js';
import {LINE_END, type BufferedLogWriter} from './buffered-log-writer.js';
import type {LogFormatOptions, LogLineFormatter} from './log-line-formatter.js';
import {isSelected, type LogSelection} from './log-selection.js';

/**
 * Writes lines as crictl does: parts follow each other as in the file, whichever stream they belong to, and lines
 * that are not selected also determine where a line starts.
 */
export class CrictlFormatter implements LogLineFormatter {
  readonly #writer: BufferedLogWriter;
  readonly #timestamps: boolean;
  readonly #selection: LogSelection;
  #atLineStart = true;

  constructor(
    writer: BufferedLogWriter,
    {timestamps = false, ...selection}: LogFormatOptions & LogSelection,
  ) {
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

  flushHeld(): void {
    // Nothing is buffered.
  }
}
