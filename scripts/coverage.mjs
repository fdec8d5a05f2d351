/**
 * `npm run coverage [-- FILTER…]` runs the unit tests and prints how much code of each folder of src they execute, as V8
 * counts it: bytes of compiled code, without comments and types. A report, not a gate: `npm run mutate` tells whether
 * tests notice faults. Exits with the code of the tests.
 */
import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {run, ROOT} from './bootstrap/run.mjs';
import {coverageByFolder} from './coverage/covered-bytes.mjs';

/** Folder names of a row, such as src/kubelet/pods. */
const DEPTH = 3;

const directory = mkdtempSync(join(tmpdir(), 'kcri-coverage-'));
try {
  const projects = ['--project', 'unit', '--project', 'unit-isolated'];
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...projects, ...process.argv.slice(2)];
  process.exitCode = await run(process.execPath, args, {env: {KCRI_COVERAGE: directory}});
  report(readCoverage());
} finally {
  rmSync(directory, {recursive: true});
}

/** Joins what the test processes have executed. */
function readCoverage() {
  const coverage = new Map();
  for (const file of readdirSync(directory))
    for (const [path, text] of JSON.parse(readFileSync(join(directory, file), 'utf8'))) {
      const covered = Buffer.from(text, 'latin1');
      const known = coverage.get(path) ?? new Uint8Array(covered.length);
      coverage.set(
        path,
        known.map((value, at) => value | (covered[at] ?? 0)),
      );
    }
  return coverage;
}

function report(coverage) {
  const rows = coverageByFolder(coverage, DEPTH);
  const width = Math.max(...rows.map(({folder}) => folder.length), 'FOLDER'.length);
  const print = (folder, files, percent) =>
    process.stdout.write(`${folder.padEnd(width)}  ${files.padStart(5)}  ${percent.padStart(8)}\n`);
  print('FOLDER', 'FILES', 'EXECUTED');
  for (const {folder, files, bytes, covered} of rows)
    print(folder, String(files), `${((100 * covered) / bytes).toFixed(1)} %`);
  const unseen = sources().filter((path) => !coverage.has(path)).length;
  process.stdout.write(`${unseen} files of src were not loaded; those of types only have no code\n`);
}

function sources() {
  return readdirSync(join(ROOT, 'src'), {recursive: true, encoding: 'utf8'})
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name}`);
}
