import type {ConnectionContext} from '../../cli/command/contexts.js';
import type {Check, CheckResult} from './check.js';
import type {NodeSnapshot} from './node-snapshot.js';
import {runChecks} from './run-checks.js';

/** Examines a saved node. Rejects with ConfigError if the file is not one. */
export async function runSavedChecks(
  {connections}: ConnectionContext,
  checks: readonly Check[],
): Promise<readonly CheckResult[]> {
  await connections.default();
  const {saved} = connections;
  if (saved === undefined) throw new TypeError('not a saved node');
  try {
    return runChecks(checks, saved.part('doctor', 'facts about the node') as unknown as NodeSnapshot);
  } catch (error) {
    // The file is not trusted, and only a foreign one has facts of another form.
    if (!(error instanceof TypeError)) throw error;
    throw saved.unusable('its facts about the node have another form');
  }
}
