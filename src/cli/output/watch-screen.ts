import type {Clock} from '../../base/clock.js';
import {formatRfc3339Nano} from '../../format/time.js';
import {cutToWidth, toCells} from '../../format/display-width.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {LiveRegion} from './live-region.js';
import type {CliContext} from '../process/context.js';
import type {CommandOutput} from './command-output.js';
import type {Output} from './output.js';
import {canMoveCursor, glyphsOf, type LineGlyphs} from './terminal-features.js';

/** Content of a watch at one point in time. */
export interface Frame {
  /** Text with its final line break. */
  readonly text: string;
  /** Warnings about missing data. */
  readonly warnings: readonly string[];
}

/** Destination of frames. */
export interface Screen {
  show(frame: Frame): void;
  /** Ends the display. */
  end(): void;
}

/** Yields samples with a pause between them. Rejects with the signal's reason. */
export async function* repeatSample<T>(
  sample: () => Promise<T>,
  {clock, pauseMs, signal}: {readonly clock: Clock; readonly pauseMs: number; readonly signal: AbortSignal},
): AsyncGenerator<T> {
  for (;;) {
    yield await sample();
    await clock.sleep(pauseMs, signal);
  }
}

/** Prints frames one below the other, and each warning once. */
export class ScrollingScreen implements Screen {
  readonly #write: (text: string) => void;
  readonly #warn: (warning: string) => void;
  readonly #warned = new Set<string>();

  constructor(write: (text: string) => void, warn: (warning: string) => void) {
    this.#write = write;
    this.#warn = warn;
  }

  show({text, warnings}: Frame): void {
    this.#write(text);
    for (const warning of warnings) {
      if (!this.#warned.has(warning)) this.#warn(warning);
      this.#warned.add(warning);
    }
  }

  end(): void {
    this.#warned.clear();
  }
}

/** Draws each frame over the previous one, below the time and above its warnings. */
export class TerminalScreen implements Screen {
  readonly #output: Output;
  readonly #clock: Clock;
  readonly #glyphs: LineGlyphs;
  readonly #screen: LiveRegion;

  constructor(output: Output, {clock, env}: Pick<CliContext, 'clock' | 'env'>) {
    this.#output = output;
    this.#clock = clock;
    this.#glyphs = glyphsOf(env);
    this.#screen = new LiveRegion(output);
  }

  show({text, warnings}: Frame): void {
    const lines = [formatTimeLine(this.#clock.now()), ...text.trimEnd().split('\n')];
    const {maxLines} = this.#screen;
    // The newest ones, and at least a line of the table.
    const below = (maxLines > 1 ? warnings.slice(1 - maxLines) : []).map(
      (warning) => `warning: ${escapeToLine(warning)}`,
    );
    const shown = [...fitting(lines, maxLines - below.length, this.#glyphs), ...below];
    const width = this.#output.columns ?? 80;
    this.#screen.draw(shown.map((line) => cutToWidth(toCells(line), width)));
  }

  end(): void {
    this.#screen.end();
  }

  /** Ends the display and erases the last frame. */
  clear(): void {
    this.#screen.clear();
    this.#screen.end();
  }
}

/** Returns the screen of tables that are refreshed: redrawn on a terminal that can, below a line with the time elsewhere. */
export function tableScreen(
  out: Pick<CommandOutput, 'stdout' | 'printData'>,
  {
    context,
    warn,
  }: {readonly context: Pick<CliContext, 'clock' | 'env'>; readonly warn: (text: string) => void},
): Screen {
  if (canRedraw(out, context)) return new TerminalScreen(out.stdout, context);
  return new ScrollingScreen((table) => {
    out.printData(`${formatTimeLine(context.clock.now())}\n${table}\n`);
  }, warn);
}

/** Reports whether the output is a terminal on which a table can be redrawn in place. */
export function canRedraw({stdout}: Pick<CommandOutput, 'stdout'>, {env}: Pick<CliContext, 'env'>): boolean {
  return stdout.isTerminal && canMoveCursor(env);
}

/** Limits lines to the available height and adds the number of omitted lines. */
function fitting(lines: readonly string[], room: number, {pending}: LineGlyphs): readonly string[] {
  if (lines.length <= room) return lines;
  const shown = Math.max(room - 1, 0);
  return [...lines.slice(0, shown), `${pending} ${lines.length - shown} more`];
}

/** Formats the local time in seconds with its time zone. */
function formatTimeLine(nowMs: number): string {
  return formatRfc3339Nano(BigInt(Math.trunc(nowMs / 1000)) * 1_000_000_000n);
}
