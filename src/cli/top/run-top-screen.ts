import type {CommandServices} from '../command/command-services.js';
import type {TopSampler, TopSelection} from '../pods/top-sampler.js';
import {usesUtf8} from './can-fill-screen.js';
import {TerminalDisplay} from './terminal-display.js';
import {TopController} from './top-controller.js';

/** Maximum number of messages that are printed after the view is closed. */
const MAX_MESSAGES = 20;

/**
 * Shows the full-screen view until the user quits. The terminal is restored however it ends. Rejects if reading the
 * pods fails other than by the runtime.
 */
export async function runTopScreen(
  services: CommandServices,
  sampler: TopSampler,
  selection: TopSelection,
): Promise<void> {
  const {context, out, report} = services;
  const quit = new AbortController();
  const signal = AbortSignal.any([services.signal, out.stdout.closed, quit.signal]);
  const messages: (() => void)[] = [];
  using display = new TerminalDisplay(context, {colors: out.colors});
  const controller = new TopController(services, {
    display,
    sampler,
    selection,
    isLocal: await hasLocalRuntime(services),
    unicode: usesUtf8(context.env),
    signal,
    quit: () => {
      quit.abort();
    },
  });
  report.redirectWarnings(controller.warn);
  out.writeAbove({
    writeAbove: (write) => {
      if (!display.isOpen) {
        write();
        return;
      }
      messages.push(write);
      if (messages.length > MAX_MESSAGES) messages.shift();
    },
  });
  try {
    await controller.run();
  } catch (error) {
    // Quitting ends the view normally.
    if (!signal.aborted) throw error;
  } finally {
    display.close();
    report.redirectWarnings(undefined);
    for (const write of messages) write();
  }
  await controller.finished();
}

/** Reports whether the runtime runs on this machine. */
async function hasLocalRuntime({settings}: CommandServices): Promise<boolean> {
  const {runtimeEndpoint} = await settings.read();
  return runtimeEndpoint === undefined || /^(?:unix:|\/)/.test(runtimeEndpoint);
}
