import {spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {expect, test} from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** These checks hold what a change breaks without noticing; `npm run check` has the others too. */
test.each(['imports', 'generated files', 'manual pages', 'flag table'])(
  'the check of %s passes',
  {timeout: 120_000},
  (name) => {
    const {stdout} = spawnSync(process.execPath, ['scripts/check.mjs', name], {cwd: ROOT, encoding: 'utf8'});
    expect(stdout).toContain(`${name} … ok\nall checks passed\n`);
  },
);
