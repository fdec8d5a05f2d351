import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';

const SCRIPTS = join(import.meta.dirname, '../../scripts');
const read = (name: string): string => readFileSync(join(SCRIPTS, name), 'utf8');

/** Needs assemblers for two architectures, unlike everything else. */
const WITH_BINUTILS = 'pause-program.mjs';

/** Scripts that `npm run check` runs to find stale files that Node.js alone can make. */
const checked = Array.from(
  read('check.mjs').matchAll(/'scripts\/([\w-]+\.mjs)', '--check'/g),
  ([, name = '']) => name,
).filter((name) => name !== WITH_BINUTILS);

test('npm run check looks for stale files', () => {
  expect(checked).toContain('man.mjs');
});

test.each(checked)('npm run regenerate makes what %s checks, and its error says so', (name) => {
  expect(read('regenerate.mjs')).toContain(`'scripts/${name}'`);
  expect(read(name)).toContain('stale');
  expect(read(name)).toMatch(/stale.*run "npm run regenerate"/s);
});
