import {isDeepStrictEqual} from 'node:util';
import {campaignCases} from './campaign/campaign.js';
import type {CompatCase} from './cases.js';
import {generatedCases} from './generated-lines.js';
import {withoutCrictlHelp, withoutKcriHelp} from './help-text.js';
import {runCase, type Call, type Outcome} from './run-case.js';
import {runProgram} from './run-program.js';

/**
 * Runs generated command lines with the crictl and with the kcri of these paths, and prints those that differ. Returns
 * their number. Called by scripts/compare-crictl.mjs.
 */
export async function compare(crictl: string, kcri: string, filter: RegExp): Promise<number> {
  const lines = [...generatedCases(), ...campaignCases()]
    .filter(({title}) => filter.test(title))
    .map((each): CompatCase => (each.shows === 'file' ? each : {...each, shows: 'calls'}));
  const run = async (program: string, each: CompatCase): Promise<Outcome> => {
    const call = async (request: Call): Promise<Outcome> =>
      await runProgram(program, {
        ...request,
        env: {...request.env, KCRI_COMPAT: 'crictl', PATH: process.env['PATH'] ?? ''},
      });
    return await runCase(each, {path: program, call});
  };
  let different = 0;
  for (const each of lines) {
    const [theirs, ours] = await Promise.all([run(crictl, each), run(kcri, each)]);
    const expected = {...theirs, stdout: withoutCrictlHelp(theirs.stdout)};
    const actual = {...ours, stdout: withoutKcriHelp(ours.stdout, expected.stdout)};
    if (isDeepStrictEqual(actual, expected)) continue;
    different++;
    process.stdout.write(
      `${JSON.stringify({line: each.title, crictl: expected, kcri: actual}, undefined, 1)}\n`,
    );
  }
  process.stdout.write(`${different} of ${lines.length} command lines differ\n`);
  return different;
}
