import type {Output} from '../../cli/output/output.js';
import {MAX_LINE_BYTES} from '../../recording/lines/recording-header.js';

/** Maximum length of output that its reader has not taken, in bytes. Further lines are lost. */
const MAX_WAITING = MAX_LINE_BYTES;

/** Writes lines to standard output. Lines that its reader is too slow for are lost; the caller never waits. */
export class LineStream {
  readonly #output: Output;
  readonly #formatLost: (count: number) => string;
  readonly #never = new AbortController().signal;
  #waiting = 0;
  #lost = 0;
  #allLost = 0;

  /** `header` returns the first line, `formatLost` one in place of lost lines. */
  constructor(
    output: Output,
    {header, formatLost}: {readonly header: () => string; readonly formatLost: (count: number) => string},
  ) {
    this.#output = output;
    this.#formatLost = formatLost;
    this.write(Buffer.from(header()));
  }

  /** Number of lines that were lost. */
  get lostLines(): number {
    return this.#allLost;
  }

  /** Writes a line, without its line break. */
  write(line: Buffer): void {
    if (this.#waiting + line.length > MAX_WAITING) {
      this.#lost += 1;
      this.#allLost += 1;
      return;
    }
    const lost = this.#lost === 0 ? '' : `${this.#formatLost(this.#lost)}\n`;
    this.#lost = 0;
    this.#send(`${lost}${line.toString()}\n`);
  }

  #send(text: string): void {
    this.#waiting += text.length;
    this.#output.write(text);
    void this.#output.taken(this.#never).then(() => {
      this.#waiting -= text.length;
    });
  }

  /** Adds a line about lost lines. The command flushes its output. */
  close(): Promise<void> {
    if (this.#lost > 0) this.#output.write(`${this.#formatLost(this.#lost)}\n`);
    this.#lost = 0;
    return Promise.resolve();
  }

  /** As close: what was written stays. */
  async discard(): Promise<void> {
    await this.close();
  }
}
