import type {DialectContext, ReportContext, SignalContext} from './contexts.js';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {actOnTarget, type Target} from '../../operations/resolve/target.js';

/**
 * Calls `act` for each target, as actOnTarget does, at most `limit` at once. A target that is missing or fails is reported and
 * does not stop the others. An interruption stops them, and in crictl's dialect also the first failure of a serial run.
 */
export async function forEachTarget<Id>(
  {dialect, report, signal}: DialectContext & ReportContext & SignalContext,
  targets: readonly Target<Id>[],
  act: (id: Id, ref: string, target: Target<Id>) => Promise<void>,
  limit = 1,
): Promise<void> {
  await forEachLimit(targets, limit, async (target) => {
    signal.throwIfAborted();
    try {
      await actOnTarget(target, async (id, ref) => {
        await act(id, ref, target);
      });
    } catch (error) {
      if (dialect.stopsAtFailure({limit, signal})) throw error;
      signal.throwIfAborted();
      report.fail(error);
    }
  });
}
