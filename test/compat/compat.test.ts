import {mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, describe, test} from 'vitest';
import {systemClock} from '../../src/base/clock.js';
import {interruption} from '../../src/cli/interrupt.js';
import {runKcri} from '../cli/run-kcri.js';
import {CASES} from './cases.js';
import {knownDifference} from './known-differences.js';
import {HELP, readRecordings} from './recordings.js';
import {runCase, type Call, type Outcome} from './run-case.js';
import {runProgram} from './run-program.js';

process.env['TZ'] = 'UTC';

for (const [command, cases] of Object.entries(CASES)) {
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
      // crictl looks for its file there, and for the runtimes' sockets; neither is on a machine that tests.
      defaultConfigFile: '/etc/crictl.yaml',
      wellKnownEndpoints: [
        'unix:///run/containerd/containerd.sock',
        'unix:///run/crio/crio.sock',
        'unix:///var/run/cri-dockerd.sock',
      ],
    });
  };

  describe(`${command}, as crictl has it`, () => {
    const alike = cases.filter(({title}) => knownDifference(title) === undefined);
    test.concurrent.for(alike.map((each) => [each.title, each] as const))(
      '%s',
      async ([, each], {expect}) => {
        const recorded = outcomes[each.title];
        expect(recorded, 'not recorded yet: see scripts/record-crictl.mjs').toBeDefined();
        const said = await runCase(each, {path: process.argv[1] ?? '', call});
        expect({...said, stdout: withoutHelp(said.stdout, recorded!.stdout)}).toEqual(recorded);
      },
    );
  });
}

/** Every command line once more with the executable's own file, where there is one, which a link calls crictl. */
const executable = process.env['KCRI_TEST_PROGRAM'];
if (executable !== undefined) {
  const links = mkdtempSync(join(tmpdir(), 'kcri-compat-link-'));
  const link = join(links, 'crictl');
  symlinkSync(executable, link);
  afterAll(() => {
    rmSync(links, {recursive: true});
  });
  const call = async (made: Call): Promise<Outcome> => await runProgram(link, made);

  for (const [command, cases] of Object.entries(CASES)) {
    const {outcomes} = await readRecordings(command);
    describe(`${command}, as crictl has it, in a process of its own`, () => {
      const alike = cases.filter(({title}) => knownDifference(title) === undefined);
      test.concurrent.for(alike.map((each) => [each.title, each] as const))(
        '%s',
        async ([, each], {expect}) => {
          const recorded = outcomes[each.title]!;
          // As crictl, it names the folder of its own file, not that of the link.
          const said = await runCase(each, {path: executable, call});
          expect({...said, stdout: withoutAges(withoutHelp(said.stdout, recorded.stdout))}).toEqual({
            ...recorded,
            stdout: withoutAges(recorded.stdout),
          });
        },
      );
    });
  }
}

/** Ages are others today, and so are the columns they stand in. */
function withoutAges(stdout: string): string {
  return stdout.replace(/(?:About an? |Less than an? |\d+ )\w+ ago/g, '{AGE}').replace(/ {2,}/g, '  ');
}

/** Where crictl shows its help, kcri shows its own in other words: only that there is one is compared. */
function withoutHelp(stdout: string, recorded: string): string {
  if (!recorded.endsWith(HELP)) return stdout;
  const before = recorded.slice(0, -HELP.length);
  const isHelp = stdout.startsWith(before) && /^USAGE\n/m.test(stdout.slice(before.length));
  return isHelp ? recorded : stdout;
}
