import {anySignal} from '../../base/async/any-signal.js';
import type {Init, MessageTypes} from '../../cri/index.js';
import type {
  CommandContext,
  EnvironmentContext,
  OutputContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {formatDocument} from '../../cli/output/format-document.js';
import {formatMessage, type NodeOf, type ObjectFormat} from '../../cli/output/parse-output-format.js';
import {
  repeatSample,
  ScrollingScreen,
  tableScreen,
  type Frame,
  type Screen,
} from '../../cli/output/watch-screen.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly watch: WatchStrategy;
  }
}

/** Frequency of output. */
export interface Rhythm {
  /** True if output repeats until Ctrl-C. */
  readonly watch: boolean;
  readonly pauseMs: number;
}

/** Differences of repeated output between the dialects. */
export interface WatchStrategy {
  /** Returns the screen for tables. */
  readonly tableScreen: (
    services: EnvironmentContext & OutputContext & ReportContext,
    watch: boolean,
  ) => Screen;
  /** Interval of objects in ms, in place of the requested one. */
  readonly objectPauseMs?: number;
  /** True if each of several objects is a separate document. */
  readonly separatesDocuments: boolean;
}

/** kcri's repeated output: redrawn on a terminal, below a line with the time elsewhere. */
const KCRI_WATCH: WatchStrategy = {
  tableScreen: (services, watch) => {
    const {context, out, report} = services;
    if (!watch) return scrollingScreen(services);
    return tableScreen(out, {context, warn: report.warn});
  },
  separatesDocuments: true,
};

/** Returns a screen that writes frames one below the other. */
export function scrollingScreen(
  {out, report}: OutputContext & ReportContext,
  format: (text: string) => string = (text) => text,
): ScrollingScreen {
  return new ScrollingScreen((text) => {
    out.printData(format(text));
  }, report.warn);
}

/** Shows tables computed from pairs of samples that are `pauseMs` apart. */
export async function showPairs<T>(
  services: CommandContext,
  sample: () => Promise<T>,
  {frame, ...rhythm}: Rhythm & {readonly frame: (before: T, after: T) => Frame},
): Promise<void> {
  const {tableScreen} = await services.dialect.strategy('watch', KCRI_WATCH);
  let before: T | undefined;
  await show(services, sample, {
    ...rhythm,
    screen: tableScreen(services, rhythm.watch),
    frame: (after) => {
      const shown = before === undefined ? undefined : frame(before, after);
      before = after;
      return shown;
    },
  });
}

/** Message to show, and warnings about missing data. */
export interface MessageSample<Name extends keyof MessageTypes> {
  readonly message: Init<MessageTypes[Name]>;
  readonly warnings: readonly string[];
}

/** Shows samples as objects; several are one line or document each. */
export async function showObjects<Name extends keyof MessageTypes>(
  services: CommandContext,
  form: ObjectFormat,
  name: Name,
  {
    sample,
    nodeOf,
    ...rhythm
  }: Rhythm & {
    readonly sample: () => Promise<MessageSample<Name>>;
    /** Returns the node of an object in the message; undefined if there is only one. */
    readonly nodeOf?: NodeOf | undefined;
  },
): Promise<void> {
  const strategy = await services.dialect.strategy('watch', KCRI_WATCH);
  const {objectPauseMs = rhythm.pauseMs, separatesDocuments} = strategy;
  await show(services, sample, {
    watch: rhythm.watch,
    pauseMs: objectPauseMs,
    screen: scrollingScreen(services),
    frame: async ({message, warnings}) => ({
      text:
        rhythm.watch && separatesDocuments
          ? await formatDocument(form, name, message, nodeOf)
          : await formatMessage(form, name, message, nodeOf),
      warnings,
    }),
  });
}

interface Show<T> extends Rhythm {
  readonly screen: Screen;
  readonly frame: (sample: T) => Frame | undefined | Promise<Frame | undefined>;
}

async function show<T>(
  {context, out, signal: interrupted}: EnvironmentContext & OutputContext & SignalContext,
  sample: () => Promise<T>,
  {watch, pauseMs, screen, frame: frameOf}: Show<T>,
): Promise<void> {
  using either = anySignal(interrupted, out.stdout.closed);
  const {signal} = either;
  try {
    for await (const each of repeatSample(sample, {clock: context.clock, pauseMs, signal})) {
      const frame = await frameOf(each);
      if (frame === undefined) continue;
      screen.show(frame);
      if (!watch) return;
      await out.stdout.ready(signal);
    }
  } catch (error) {
    // Ctrl-C ends a watch normally.
    if (!watch || !signal.aborted) throw error;
  } finally {
    screen.end();
  }
}
