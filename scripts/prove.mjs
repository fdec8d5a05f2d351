/**
 * Checks what tests declare to prove (scripts/evidence/declarations.mjs): takes the field away from every Pod, or the flag
 * from every command line, and runs the test, which must fail. End-to-end tests are not checked.
 *
 * `node scripts/prove.mjs [SUBJECT…]`, such as `PodSpec.hostAliases` or `"ps --label"`, checks all or these. Prints each
 * declaration that does not hold, and exits 1 when there is one.
 */
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {readDeclarations} from './evidence/declarations.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const scratch = mkdtempSync(join(tmpdir(), 'kcri-prove-'));
const chosen = new Set(process.argv.slice(2));
const all = readDeclarations(root).flatMap(({subjects, ...test}) =>
  subjects.map((subject) => ({...test, subject})),
);
const checked = all.filter(
  ({file, subject}) =>
    !file.startsWith('test/e2e/') && /[.]| --/.test(subject) && (chosen.size === 0 || chosen.has(subject)),
);

/** Returns why a declaration does not hold, or undefined. */
async function findFault({file, title, subject}, index) {
  const log = join(scratch, String(index));
  const code = await runTest(file, title, {KCRI_TEST_OMIT: subject, KCRI_TEST_OMIT_LOG: log});
  if (statSync(log, {throwIfNoEntry: false}) === undefined) return 'the test does not use it';
  return code === 0 ? 'the test passes without it' : undefined;
}

async function runTest(file, title, env) {
  const pattern = title
    .replaceAll(' > ', ' ')
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/%[a-z$#]+|\\\$\w+/g, '.*');
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', file, '--testNamePattern', pattern],
    {cwd: root, env: {...process.env, ...env}, stdio: 'ignore'},
  );
  return await new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

let faults = 0;
for (const [index, declaration] of checked.entries()) {
  const fault = await findFault(declaration, index);
  if (fault === undefined) continue;
  faults++;
  process.stdout.write(`${declaration.subject}: ${declaration.file}: ${declaration.title}: ${fault}\n`);
}
rmSync(scratch, {recursive: true});
process.stdout.write(`${checked.length - faults} of ${checked.length} declarations hold\n`);
process.exitCode = faults === 0 ? 0 : 1;
