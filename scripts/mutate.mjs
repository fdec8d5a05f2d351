/**
 * `npm run mutate [-- FILE[:LINE]...]` checks whether the tests detect faults in code that decides. Applies one small
 * fault at a time (scripts/mutation/mutants.mjs) to the files in scripts/mutation/mutation-targets.mjs, or only to
 * those whose path contains a FILE (and to those LINEs), runs their tests, and prints the mutants that survive the
 * tests and compile. Exits with 1 if there are any. Files are not changed: the runner gets the mutated text instead.
 */
import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import ts from 'typescript';
import {createVitest} from 'vitest/node';
import {listMutants, applyMutant} from './mutation/mutants.mjs';
import {TARGETS} from './mutation/mutation-targets.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Timeout of a test. A mutant that hangs counts as killed. */
const TEST_TIMEOUT_MS = 5_000;
/** Ending a thread can take long on a busy machine, and a forced end would end all threads. */
const TEARDOWN_TIMEOUT_MS = 120_000;

/** Creates a runner of test files in which the text of one module can be replaced. */
async function openRunner(path, tests) {
  let replacement;
  const plugin = {
    name: 'mutant',
    enforce: 'pre',
    load: (id) => (id === path ? replacement : undefined),
  };
  const options = {
    config: false,
    root,
    include: tests,
    pool: 'threads',
    // A mutant can delay the handling of rejections, which is not of interest.
    execArgv: ['--no-warnings'],
    watch: false,
    bail: 1,
    testTimeout: TEST_TIMEOUT_MS,
    teardownTimeout: TEARDOWN_TIMEOUT_MS,
    reporters: [{}],
  };
  const vitest = await createVitest('test', options, {plugins: [plugin]});
  const specifications = await vitest.globTestSpecifications();
  if (specifications.length < tests.length) throw new Error(`some tests of ${path} do not exist`);
  return {
    /** Returns whether all tests pass with this text of the module. */
    async passes(text) {
      replacement = text;
      vitest.invalidateFile(path);
      const {testModules, unhandledErrors} = await vitest.runTestSpecifications(specifications);
      return unhandledErrors.length === 0 && testModules.every((module) => module.ok());
    },
    close: async () => await vitest.close(),
  };
}

/** Returns a function that reports whether a file compiles with another text. */
function openCompiler(path) {
  const {config} = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const {options} = ts.parseJsonConfigFileContent({...config, include: []}, ts.sys, root);
  let text = readFileSync(path, 'utf8');
  let version = 0;
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => true,
    getCompilationSettings: () => options,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [path],
    getScriptVersion: (name) => (name === path ? String(version) : '0'),
    getScriptSnapshot: (name) => {
      const content = name === path ? text : ts.sys.readFile(name);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
  });
  return (other) => {
    text = other;
    version += 1;
    return service.getSyntacticDiagnostics(path).length + service.getSemanticDiagnostics(path).length === 0;
  };
}

const requested = process.argv.slice(2).map((word) => {
  const [, name, line] = /^(.*?)(?::(\d+))?$/.exec(word);
  return {name, line};
});
/** Returns whether a file, or a line of it, is requested. */
const isRequested = (file, line) =>
  requested.length === 0 ||
  requested.some(
    (each) =>
      file.includes(each.name) &&
      (line === undefined || each.line === undefined || each.line === String(line)),
  );

const lineOf = (text, {line}) => text.split('\n')[line - 1].trim();

/** Tries all mutants of a file, prints the survivors, and returns the counts. */
async function mutate({file, tests, equivalent = []}) {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  const compiles = openCompiler(path);
  const runner = await openRunner(path, tests);
  const isEquivalent = (mutant) =>
    equivalent.find(({in: line, to}) => lineOf(text, mutant).includes(line) && mutant.to === to);
  const score = {mutants: 0, killed: 0, invalid: 0, equivalent: 0, survivors: 0};
  const reportSurvivor = ({line, from, to}) => {
    score.survivors += 1;
    process.stdout.write(`  ${file}:${line}: ${from.replaceAll(/\s+/g, ' ')} → ${to || 'nothing'}\n`);
  };
  const used = new Set();
  try {
    if (!(await runner.passes(text))) throw new Error(`the tests of ${file} fail without a mutation`);
    for (const mutant of listMutants(text).filter(({line}) => isRequested(file, line))) {
      score.mutants += 1;
      const mutated = applyMutant(text, mutant);
      if (!(await runner.passes(mutated))) score.killed += 1;
      else if (!compiles(mutated)) score.invalid += 1;
      else if (isEquivalent(mutant) === undefined) reportSurvivor(mutant);
      else {
        score.equivalent += 1;
        used.add(isEquivalent(mutant));
      }
    }
  } finally {
    await runner.close();
  }
  const outdated = requested.some(({line}) => line) ? [] : equivalent.filter((entry) => !used.has(entry));
  for (const {in: from, to} of outdated)
    reportSurvivor({line: 0, from, to: `${to} (listed as equivalent, but nothing survives)`});
  return score;
}

const targets = TARGETS.filter(({file}) => isRequested(file));
if (targets.length === 0)
  throw new Error('no path in scripts/mutation/mutation-targets.mjs contains this text');
let survivors = 0;
for (const target of targets) {
  process.stdout.write(`${target.file}\n`);
  const score = await mutate(target);
  process.stdout.write(
    `  ${score.mutants} mutants, ${score.killed} killed, ${score.invalid} do not compile, ${score.equivalent} equivalent, ${score.survivors} survive\n`,
  );
  survivors += score.survivors;
}
process.exitCode = survivors === 0 ? 0 : 1;
