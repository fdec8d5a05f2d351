import {CASES} from './cases.js';
import {recordHelpFlags} from './help-flags.js';
import {withoutCrictlHelp} from './help-text.js';
import {writeRecordings} from './recordings.js';
import {runCase, type Call, type Outcome} from './run-case.js';
import {runProgram} from './run-program.js';

/**
 * Runs the command lines of all files, or of those given, with the crictl at `crictl`, and writes the results to
 * test/compat/recordings. Called by scripts/record-crictl.mjs.
 */
export async function record(crictl: string, only: readonly string[]): Promise<void> {
  const call = async (request: Call): Promise<Outcome> => await runProgram(crictl, request);
  const version = (await runProgram(crictl, {words: ['--version'], env: {}})).stdout.trim();
  if (only.length === 0 || only.includes('help-flags')) await recordHelpFlags(crictl);
  for (const [command, cases] of Object.entries(CASES)) {
    if (only.length > 0 && !only.includes(command)) continue;
    const recordedAtMs = Date.now();
    const outcomes: Record<string, Outcome> = {};
    for (const each of cases) {
      const {stdout, ...rest} = await runCase(each, {path: crictl, call});
      outcomes[each.title] = {stdout: withoutCrictlHelp(stdout), ...rest};
    }
    await writeRecordings(command, {crictl: version, recordedAtMs, outcomes});
    process.stdout.write(`${command}: ${cases.length} command lines\n`);
  }
}
