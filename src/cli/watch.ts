import type {Clock} from '../base/clock.js';
import {formatRfc3339Nano} from '../format/time.js';
import {visibleInLine} from '../format/visible.js';
import {InPlace} from './in-place.js';
import type {Output} from './output.js';

/** What a watch shows at one moment. */
export interface Frame {
  /** With its line end. */
  readonly text: string;
  /** What could not be shown, and why. */
  readonly warnings: readonly string[];
}

/** Where frames are shown. */
export interface Screen {
  show(frame: Frame): void;
  /** No more frames follow. */
  end(): void;
}

/** What `sample` gives, again and again with a pause between. Rejects with the signal's reason. */
export async function* repeated<T>(
  sample: () => Promise<T>,
  {clock, pauseMs, signal}: {readonly clock: Clock; readonly pauseMs: number; readonly signal: AbortSignal},
): AsyncGenerator<T> {
  for (;;) {
    yield await sample();
    await clock.sleep(pauseMs, signal);
  }
}

/** Writes frames one below the other; a warning is told once, however long it lasts. */
export class ScrollingScreen implements Screen {
  readonly #write: (text: string) => void;
  readonly #warn: (warning: string) => void;
  readonly #told = new Set<string>();

  constructor(write: (text: string) => void, warn: (warning: string) => void) {
    this.#write = write;
    this.#warn = warn;
  }

  show({text, warnings}: Frame): void {
    this.#write(text);
    for (const warning of warnings) {
      if (!this.#told.has(warning)) this.#warn(warning);
      this.#told.add(warning);
    }
  }

  end(): void {
    this.#told.clear();
  }
}

/** Draws each frame over the one before, below the time and above its warnings. */
export class TerminalScreen implements Screen {
  readonly #output: Output;
  readonly #clock: Clock;
  readonly #screen: InPlace;

  constructor(output: Output, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
    this.#screen = new InPlace(output);
  }

  show({text, warnings}: Frame): void {
    const lines = [timeLine(this.#clock.now()), ...text.trimEnd().split('\n')];
    const room = this.#screen.room - warnings.length;
    const below = warnings.map((warning) => `warning: ${visibleInLine(warning)}`);
    const width = this.#output.columns ?? 80;
    this.#screen.draw([...fitting(lines, room), ...below].map((line) => line.slice(0, width)));
  }

  end(): void {
    this.#screen.end();
  }
}

/** The lines, or as many as there is room for and how many there are more. */
function fitting(lines: readonly string[], room: number): readonly string[] {
  if (lines.length <= room) return lines;
  const shown = Math.max(room - 1, 0);
  return [...lines.slice(0, shown), `… ${lines.length - shown} more`];
}

/** The local time to the second, with its zone. */
export function timeLine(nowMs: number): string {
  return formatRfc3339Nano(BigInt(Math.trunc(nowMs / 1000)) * 1_000_000_000n);
}
