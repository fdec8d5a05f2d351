import type {Clock} from '../../base/clock.js';
import type {OutputStream} from '../../cli/process/standard-output.js';

/** Maximum number of characters that are buffered for a slow reader; further lines are dropped. */
const MAX_BUFFERED = 4 * 1024 * 1024;

/** Writes log lines to a stream. Never blocks or throws; drops lines if the reader is too slow. */
export class LogWriter {
  readonly #stream: OutputStream;
  readonly #formatDropped: (count: number) => string;
  readonly #maxBuffered: number;
  #buffered = 0;
  #dropped = 0;
  #isBroken = false;
  #onDrained: (() => void) | undefined;

  /** `formatDropped` returns a line with the number of dropped lines, which is written as soon as possible. */
  constructor(stream: OutputStream, formatDropped: (count: number) => string, maxBuffered = MAX_BUFFERED) {
    this.#stream = stream;
    this.#formatDropped = formatDropped;
    this.#maxBuffered = maxBuffered;
    stream.removeAllListeners('error');
    stream.on('error', () => {
      this.#isBroken = true;
    });
  }

  write(line: string): void {
    if (this.#isBroken) return;
    if (this.#buffered + line.length > this.#maxBuffered) {
      this.#dropped += 1;
      return;
    }
    this.#send(this.#takeDroppedLine() + line);
  }

  /** Returns the line about dropped lines and resets the count; empty if none was dropped. */
  #takeDroppedLine(): string {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped === 0 ? '' : this.#formatDropped(dropped);
  }

  #send(text: string): void {
    this.#buffered += text.length;
    this.#stream.write(text, () => {
      this.#buffered -= text.length;
      if (this.#buffered === 0) this.#onDrained?.();
    });
  }

  /** Resolves when all lines are written, or after `limitMs`, so that a blocked reader does not delay the exit. */
  async flush(clock: Clock, limitMs: number): Promise<void> {
    if (this.#dropped > 0 && !this.#isBroken) this.#send(this.#takeDroppedLine());
    if (this.#buffered === 0) return;
    const written = new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    const limit = new AbortController();
    const timeout = clock.sleep(limitMs, limit.signal).catch(() => undefined); // the log is written
    await Promise.race([written, timeout]);
    limit.abort();
    if (this.#buffered > 0) this.#stream.destroy();
  }
}
