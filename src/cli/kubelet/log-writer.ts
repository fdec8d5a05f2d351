import type {Clock} from '../../base/clock.js';
import type {OutputStream} from '../standard-output.js';

/** So many bytes may wait for a slow reader; what comes then is lost. */
const MOST_WAITING = 4 * 1024 * 1024;

/** What the log goes to: never waits for it, never fails, and never holds more than a few megabytes. */
export class LogWriter {
  readonly #stream: OutputStream;
  readonly #onLost: (count: number) => string;
  readonly #most: number;
  #waiting = 0;
  #lost = 0;
  #isGone = false;
  #idle: (() => void) | undefined;

  /** `onLost` gives the line that tells how many were lost, as soon as there is room for it, or at the end. */
  constructor(stream: OutputStream, onLost: (count: number) => string, most = MOST_WAITING) {
    this.#stream = stream;
    this.#onLost = onLost;
    this.#most = most;
    stream.removeAllListeners('error');
    stream.on('error', () => {
      this.#isGone = true;
    });
  }

  write(line: string): void {
    if (this.#isGone) return;
    if (this.#waiting + line.length > this.#most) {
      this.#lost += 1;
      return;
    }
    this.#send(this.#lostLine() + line);
  }

  /** Tells how many lines were lost since it was told last; empty when none was. */
  #lostLine(): string {
    const lost = this.#lost;
    this.#lost = 0;
    return lost === 0 ? '' : this.#onLost(lost);
  }

  #send(text: string): void {
    this.#waiting += text.length;
    this.#stream.write(text, () => {
      this.#waiting -= text.length;
      if (this.#waiting === 0) this.#idle?.();
    });
  }

  /** Resolves when all is written, or `limitMs` later: a reader that stands still doesn't keep a daemon from ending. */
  async flush(clock: Clock, limitMs: number): Promise<void> {
    if (this.#lost > 0 && !this.#isGone) this.#send(this.#lostLine());
    if (this.#waiting === 0) return;
    const written = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    const limit = new AbortController();
    const late = clock.sleep(limitMs, limit.signal).catch(() => undefined); // the log is written
    await Promise.race([written, late]);
    limit.abort();
    if (this.#waiting > 0) this.#stream.destroy();
  }
}
