import {forEachLimit} from '../../base/async/for-each-limit.js';
import type {Target} from '../../operations/resolve/resolve-names.js';
import type {CommandServices} from './command-services.js';

/**
 * Calls `act` for each target, at most `limit` at once. A target that is missing or fails is reported and does not stop
 * the others. An interruption stops them, and in crictl's dialect also the first failure of a serial run.
 */
export async function forEachTarget<Id>(
  {dialect, report, signal}: CommandServices,
  targets: readonly Target<Id>[],
  act: (id: Id, ref: string) => Promise<void>,
  limit = 1,
): Promise<void> {
  await forEachLimit(targets, limit, async (target) => {
    signal.throwIfAborted();
    try {
      if (target.kind === 'missing') throw target.error;
      await act(target.id, target.ref);
    } catch (error) {
      if (dialect.stopsAtFailure({limit, signal})) throw error;
      signal.throwIfAborted();
      report.fail(error);
    }
  });
}
