/**
 * `npm run mutate [FILE[:LINE]...]`: whether the tests notice faults in the code that decides. Puts one small fault after the
 * other (scripts/mutation/mutants.mjs) into each file of scripts/mutation/mutation-targets.mjs, or only into those whose path contains a
 * FILE (and into those LINEs), runs the tests named there, and prints the faults that no test notices and the compiler doesn't either. Exits 1
 * when there are any. Nothing is written: the runner is given the faulty text instead of the file's.
 */
import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import ts from 'typescript';
import {createVitest} from 'vitest/node';
import {listMutants, applyMutant} from './mutation/mutants.mjs';
import {TARGETS} from './mutation/mutation-targets.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** What hangs because of a fault has noticed it. */
const TEST_TIMEOUT_MS = 5_000;
/** A busy machine takes its time to end a thread, and one that is cut off ends all. */
const TEARDOWN_TIMEOUT_MS = 120_000;

/** Runs test files of which one module can be replaced by another text. */
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
    // Rejections that a fault has someone look at too late are no news.
    execArgv: ['--no-warnings'],
    watch: false,
    bail: 1,
    testTimeout: TEST_TIMEOUT_MS,
    teardownTimeout: TEARDOWN_TIMEOUT_MS,
    reporters: [{}],
  };
  const vitest = await createVitest('test', options, {plugins: [plugin]});
  const specifications = await vitest.globTestSpecifications();
  if (specifications.length < tests.length) throw new Error(`some of the tests of ${path} are not there`);
  return {
    /** Whether all tests pass with that text. */
    async passes(text) {
      replacement = text;
      vitest.invalidateFile(path);
      const {testModules, unhandledErrors} = await vitest.runTestSpecifications(specifications);
      return unhandledErrors.length === 0 && testModules.every((module) => module.ok());
    },
    close: async () => await vitest.close(),
  };
}

/** Says whether a file compiles with another text. */
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

const wanted = process.argv.slice(2).map((word) => {
  const [, name, line] = /^(.*?)(?::(\d+))?$/.exec(word);
  return {name, line};
});
/** Whether a file, or that line of it, is asked for. */
const isWanted = (file, line) =>
  wanted.length === 0 ||
  wanted.some(
    (each) =>
      file.includes(each.name) &&
      (line === undefined || each.line === undefined || each.line === String(line)),
  );

const lineOf = (text, {line}) => text.split('\n')[line - 1].trim();

/** Tries all faults of one file, and prints those that nobody notices; says how many there were of each kind. */
async function mutate({file, tests, equivalent = []}) {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  const compiles = openCompiler(path);
  const runner = await openRunner(path, tests);
  const isEquivalent = (mutant) =>
    equivalent.find(({in: line, to}) => lineOf(text, mutant).includes(line) && mutant.to === to);
  const score = {mutants: 0, killed: 0, invalid: 0, equivalent: 0, survivors: 0};
  const tell = ({line, from, to}) => {
    score.survivors += 1;
    process.stdout.write(`  ${file}:${line}: ${from.replaceAll(/\s+/g, ' ')} → ${to || 'nothing'}\n`);
  };
  const used = new Set();
  try {
    if (!(await runner.passes(text))) throw new Error(`the tests of ${file} fail without any fault`);
    for (const mutant of listMutants(text).filter(({line}) => isWanted(file, line))) {
      score.mutants += 1;
      const faulty = applyMutant(text, mutant);
      if (!(await runner.passes(faulty))) score.killed += 1;
      else if (!compiles(faulty)) score.invalid += 1;
      else if (isEquivalent(mutant) === undefined) tell(mutant);
      else {
        score.equivalent += 1;
        used.add(isEquivalent(mutant));
      }
    }
  } finally {
    await runner.close();
  }
  const outdated = wanted.some(({line}) => line) ? [] : equivalent.filter((entry) => !used.has(entry));
  for (const {in: from, to} of outdated)
    tell({line: 0, from, to: `${to} (listed as equivalent, but nothing survives)`});
  return score;
}

const targets = TARGETS.filter(({file}) => isWanted(file));
if (targets.length === 0)
  throw new Error('no file of scripts/mutation/mutation-targets.mjs has that in its path');
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
