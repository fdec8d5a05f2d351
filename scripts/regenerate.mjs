/**
 * `npm run regenerate` makes everything that is generated and committed, in the order in which one needs the other: the
 * code of the protocols, then, from the built program, manual pages, tables of the documents and the recorded help texts.
 * Run it whenever `npm run check` or the test of the help texts says that something is stale, and look at the changes
 * with `git diff`. Stops at the first step that fails.
 */
import {run} from './bootstrap/run.mjs';

const VITEST = 'node_modules/vitest/vitest.mjs';

/** Steps, each with what it makes. Those after the build read dist. */
const STEPS = [
  ['code of the .proto files', ['scripts/generate.mjs']],
  ['the program', ['scripts/bootstrap/build.mjs']],
  ['manual pages, and their list in package.json', ['scripts/man.mjs']],
  ['table of commands and flags in docs/crictl.md', ['scripts/flag-table.mjs']],
  ['tables of docs/kubelet-parity.md', ['scripts/parity-table.mjs']],
  ['docs/pod-fields.md', ['scripts/field-table.mjs']],
  ['docs/kubelet-config.md', ['scripts/config-table.mjs']],
  [
    'recorded help texts',
    [VITEST, 'run', '--project', 'bundle', 'test/commands/help/help.test.ts', '--update', '--reporter=dot'],
  ],
];

for (const [name, args] of STEPS) {
  process.stdout.write(`${name}\n`);
  const code = await run(process.execPath, args, {quiet: true});
  if (code !== 0) {
    process.stderr.write(`failed: ${name}. Fix the errors above and run "npm run regenerate" again.\n`);
    process.exitCode = code;
    break;
  }
}
