import {mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, describe, test} from 'vitest';
import {systemClock} from '../../src/base/clock.js';
import {interruption} from '../../src/cli/process/interrupt.js';
import {runKcri} from '../cli/run-kcri.js';
import {CASES} from './cases.js';
import {withoutKcriHelp} from './help-text.js';
import {knownDifference} from './known-differences.js';
import {readRecordings} from './recordings.js';
import {runCase, type Call, type Outcome} from './run-case.js';
import {runProgram} from './run-program.js';

process.env['TZ'] = 'UTC';

/** The executable file, if it is under test. */
const executable = process.env['KCRI_TEST_PROGRAM'];

for (const [command, cases] of executable === undefined ? Object.entries(CASES) : []) {
  const {outcomes, recordedAtMs} = await readRecordings(command);
  const call = async ({words, env, interrupted}: Call): Promise<Outcome> => {
    const controller = new AbortController();
    void interrupted?.then(() => {
      controller.abort(interruption('SIGINT', {compat: true}));
    });
    return await runKcri(words, {
      signal: controller.signal,
      env: {...env, KCRI_COMPAT: 'crictl'},
      clock: {...systemClock, now: () => recordedAtMs},
      // crictl's default config file and sockets, which do not exist on machines that run tests.
      defaultConfigFile: '/etc/crictl.yaml',
      wellKnownEndpoints: [
        'unix:///run/containerd/containerd.sock',
        'unix:///run/crio/crio.sock',
        'unix:///var/run/cri-dockerd.sock',
      ],
    });
  };

  describe(`${command} as crictl`, () => {
    const compared = cases.filter(({title}) => knownDifference(title) === undefined);
    test.concurrent.for(compared.map((each) => [each.title, each] as const))(
      '%s',
      async ([, each], {expect}) => {
        const recorded = outcomes[each.title];
        expect(recorded, 'not recorded yet: see scripts/record-crictl.mjs').toBeDefined();
        const actual = await runCase(each, {path: process.argv[1] ?? '', call});
        expect({...actual, stdout: withoutKcriHelp(actual.stdout, recorded!.stdout)}).toEqual(recorded);
      },
    );
  });
}

/** The executable file runs every command line in a process of its own, through a link named crictl. */
if (executable !== undefined) {
  const links = mkdtempSync(join(tmpdir(), 'kcri-compat-link-'));
  const link = join(links, 'crictl');
  symlinkSync(executable, link);
  afterAll(() => {
    rmSync(links, {recursive: true});
  });
  const call = async (request: Call): Promise<Outcome> => await runProgram(link, request);

  for (const [command, cases] of Object.entries(CASES)) {
    const {outcomes} = await readRecordings(command);
    describe(`${command} as crictl, in a separate process`, () => {
      const compared = cases.filter(({title}) => knownDifference(title) === undefined);
      test.concurrent.for(compared.map((each) => [each.title, each] as const))(
        '%s',
        async ([, each], {expect}) => {
          const recorded = outcomes[each.title]!;
          // As crictl it uses the directory of the executable, not of the link.
          const actual = await runCase(each, {path: executable, call});
          expect({...actual, stdout: withoutAges(withoutKcriHelp(actual.stdout, recorded.stdout))}).toEqual({
            ...recorded,
            stdout: withoutAges(recorded.stdout),
          });
        },
      );
    });
  }
}

/** Replaces ages, which have changed, and the width of their columns. */
function withoutAges(stdout: string): string {
  return stdout.replace(/(?:About an? |Less than an? |\d+ )\w+ ago/g, '{AGE}').replace(/ {2,}/g, '  ');
}
