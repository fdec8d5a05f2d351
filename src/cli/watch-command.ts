import type {Init, MessageTypes} from '../cri/index.js';
import {BaseCommand} from './base-command.js';
import {documentText} from './documents.js';
import {messageText, type ObjectForm} from './formats.js';
import {repeated, ScrollingScreen, TerminalScreen, timeLine, type Frame, type Screen} from './watch.js';

/** How often something is shown. */
interface Rhythm {
  /** Again and again, until Ctrl-C; else once. */
  readonly watch: boolean;
  readonly pauseMs: number;
}

/** How often crictl shows objects. */
const CRICTL_TICK_MS = 500;

/** What commands with `--watch` are built on. */
export abstract class WatchCommand extends BaseCommand {
  /** Shows what two samples make, `pauseMs` apart, as text for people. */
  protected async showPairs<T>(
    sample: () => Promise<T>,
    {frame, ...rhythm}: Rhythm & {readonly frame: (before: T, after: T) => Frame},
  ): Promise<void> {
    const screen = this.#screenForPeople(rhythm);
    let before: T | undefined;
    await this.#show(rhythm, screen, sample, (after) => {
      const shown = before === undefined ? undefined : frame(before, after);
      before = after;
      return shown;
    });
  }

  /** Shows samples as objects: each on a line or in a document of its own when there are several. */
  protected async showObjects<Name extends keyof MessageTypes>(
    form: ObjectForm,
    name: Name,
    {
      sample,
      ...rhythm
    }: Rhythm & {
      readonly sample: () => Promise<{message: Init<MessageTypes[Name]>; warnings: readonly string[]}>;
    },
  ): Promise<void> {
    const several = rhythm.watch && !this.compat;
    const pauseMs = this.compat ? CRICTL_TICK_MS : rhythm.pauseMs;
    await this.#show({...rhythm, pauseMs}, this.#scrolling(), sample, async ({message, warnings}) => ({
      text: several ? await documentText(form, name, message) : `${await messageText(form, name, message)}\n`,
      warnings,
    }));
  }

  async #show<T>(
    {watch, pauseMs}: Rhythm,
    screen: Screen,
    sample: () => Promise<T>,
    frameOf: (sample: T) => Frame | undefined | Promise<Frame | undefined>,
  ): Promise<void> {
    const signal = AbortSignal.any([this.signal, this.stdout.closed]);
    try {
      for await (const each of repeated(sample, {clock: this.context.clock, pauseMs, signal})) {
        const frame = await frameOf(each);
        if (frame === undefined) continue;
        screen.show(frame);
        if (!watch) return;
        await this.stdout.ready(signal);
      }
    } catch (error) {
      // Ctrl-C is how a watch ends.
      if (!watch || !signal.aborted) throw error;
    } finally {
      screen.end();
    }
  }

  #screenForPeople({watch}: Rhythm): Screen {
    if (!watch || this.compat) return this.#scrolling();
    const {clock} = this.context;
    return this.stdout.isTerminal
      ? new TerminalScreen(this.stdout, clock)
      : this.#scrolling((table) => `${timeLine(clock.now())}\n${table}\n`);
  }

  #scrolling(framed: (text: string) => string = (text) => text): ScrollingScreen {
    return new ScrollingScreen(
      (text) => {
        this.stdout.write(framed(text));
      },
      (warning) => void this.warn(warning),
    );
  }
}
