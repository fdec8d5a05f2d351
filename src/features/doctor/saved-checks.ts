import {ConfigError} from '../../base/errors.js';
import type {ReportContext} from '../../cli/command/contexts.js';
import {readArchive} from '../node-archive/archive-file.js';
import {reportSnapshot} from '../node-archive/report-snapshot.js';
import type {Check, CheckResult} from './check.js';
import type {NodeSnapshot} from './node-snapshot.js';
import {runChecks} from './run-checks.js';

/** Examines a saved node. Rejects with ConfigError if the file is not one. */
export async function runSavedChecks(
  services: ReportContext,
  checks: readonly Check[],
  path: string,
): Promise<readonly CheckResult[]> {
  const {manifest, parts} = await readArchive(path);
  reportSnapshot(services, path, manifest);
  try {
    return runChecks(checks, parts['doctor'] as NodeSnapshot);
  } catch (error) {
    // The file is not trusted, and only a foreign one has facts of another form.
    if (!(error instanceof TypeError)) throw error;
    throw new ConfigError(`${path}: its facts about the node have another form`, {
      hint: 'save it again with "kcri doctor --save FILE" on the node',
    });
  }
}
