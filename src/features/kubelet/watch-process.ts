import {watchEventLoop} from '../../base/watchdog/watch-event-loop.js';
import type {Logger} from '../../base/logger.js';
import type {KubeletMetricsRegistry} from '../../kubelet/index.js';
import type {CliContext} from '../../cli/process/context.js';

/**
 * Watches the event loop of a kubelet until it is disposed: logs and measures when it was blocked, and ends the process if
 * that does not pass. A process that does other things as well is not watched.
 */
export function watchProcess(
  {ownsProcess = false}: CliContext,
  {logger, metrics}: {readonly logger: Logger; readonly metrics: KubeletMetricsRegistry},
): Disposable | undefined {
  if (!ownsProcess) return undefined;
  const log = logger.forFile('watch-process.ts');
  return watchEventLoop({
    onBlocked: ({blockedMs, stack}) => {
      metrics.eventLoopBlocked(blockedMs);
      log.error(`blocked for ${blockedMs / 1000}s`, 'Event loop was blocked', {
        ...(stack !== '' && {stack}),
      });
    },
    onError: (error) => {
      log.error(error, 'The event loop is no longer watched');
    },
  });
}
