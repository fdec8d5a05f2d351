import {anySignal} from '../../base/async/any-signal.js';
import type {
  EnvironmentContext,
  OutputContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import type {TopNodes} from './metrics/top-nodes.js';
import type {TopSelection} from './metrics/top-sampler.js';
import {usesUtf8} from '../../cli/output/terminal-features.js';
import {TerminalDisplay} from './terminal-display.js';
import {TopController} from './top-controller.js';

/** Maximum number of messages that are printed after the view is closed. */
const MAX_MESSAGES = 20;

/**
 * Shows the full-screen view until the user quits. The terminal is restored however it ends. Rejects if reading the
 * pods fails other than by the runtime.
 */
export async function runTopScreen(
  services: EnvironmentContext & OutputContext & ReportContext & SignalContext,
  nodes: TopNodes,
  selection: TopSelection,
): Promise<void> {
  const {context, out, report} = services;
  const quit = new AbortController();
  using either = anySignal(services.signal, out.stdout.closed, quit.signal);
  const {signal} = either;
  const messages: (() => void)[] = [];
  using display = new TerminalDisplay(context, {colors: out.colors});
  const controller = new TopController(services, {
    display,
    nodes,
    pauseMs: selection.pauseMs,
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
