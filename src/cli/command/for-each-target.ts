import type {DialectContext, ReportContext, SignalContext} from './contexts.js';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {KcriError} from '../../base/errors.js';
import type {Target} from '../../operations/resolve/resolve-names.js';

/**
 * Calls `act` for each target, at most `limit` at once. A target that is missing or fails is reported and does not stop
 * the others. An interruption stops them, and in crictl's dialect also the first failure of a serial run.
 */
export async function forEachTarget<Id>(
  {dialect, report, signal}: DialectContext & ReportContext & SignalContext,
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
      report.fail(await betterError(target, error));
    }
  });
}

/** Returns the error to report: for the ID of an object of another kind, an error that says so. */
async function betterError<Id>(target: Target<Id>, error: unknown): Promise<unknown> {
  if (target.kind === 'missing' || target.wrongKind === undefined) return error;
  if (!(error instanceof KcriError) || error.code !== 'CRI_NOT_FOUND') return error;
  // If the search fails too, the first failure is reported.
  const wrongKind = await target.wrongKind().catch(() => undefined);
  return wrongKind ?? error;
}
