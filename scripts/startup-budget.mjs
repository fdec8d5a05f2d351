/**
 * Compares what frequent commands cost at start-up with test/startup-budget.json: modules of the bundle, their bytes,
 * modules outside the bundle, and the instructions that Node.js executes, without those of an empty script. None of them
 * depends on the load of the machine. New modules, 3 % more bytes and 5 % more instructions fail with the imports that cause
 * them. `--update` updates the file. Bundles to a separate directory, since the bundle in dist may be in use.
 */
import {execFile} from 'node:child_process';
import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {bundle} from './bundle.mjs';
import {ENTRY} from './bundle/chunks.mjs';
import {startFakeRuntime} from './compile-fakes.mjs';
import {additions} from './startup/additions.mjs';
import {LEEWAY, limitOf} from './startup/excess.mjs';
import {countInstructions, excessInstructions, explainOtherNode} from './startup/instructions.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const FILE = join(ROOT, 'test/startup-budget.json');
/** Command lines. The instructions of some are counted, which takes ten seconds of processor time each. */
const COMMANDS = {
  version: {args: () => ['version'], isCounted: true},
  ps: {args: () => ['ps', '-a'], isCounted: true},
  images: {args: () => ['images'], isCounted: true},
  logs: {args: (id) => ['logs', id], isCounted: true},
  exec: {args: (id) => ['exec', '--sync', id, 'true'], isCounted: true},
  '--help': {args: () => ['--help']},
  'ps --bogus': {args: () => ['ps', '--bogus'], exitCode: 1},
};
/** Versions of Node.js execute different numbers of instructions: the file has those of one major version. */
const MAJOR = process.version.split('.')[0];

/** Script that runs a command line and reports the loaded chunks and external modules. */
const RUN = `
  const [loader, ...args] = process.argv.slice(1);
  const {program, loaded} = require(loader);
  program.main(args).then((exitCode) => process.stderr.write('\\n' + JSON.stringify({exitCode, ...loaded()})));
`;

async function loadedBy(quick, args, expected, env) {
  const command = ['-e', RUN, join(quick, 'loader.cjs'), ...args];
  const {stderr} = await promisify(execFile)(process.execPath, command, {env});
  const {exitCode, chunks, outside} = JSON.parse(stderr.slice(stderr.lastIndexOf('\n')));
  if (exitCode !== expected) throw new Error(`kcri ${args.join(' ')} exited with ${exitCode}: ${stderr}`);
  return {chunks: new Set(chunks), outside};
}

/**
 * Returns the instructions of commands by name, beyond those of an empty script beside kcri. All commands have run before,
 * so that their compiled code is stored. Counts that exceed the budget are repeated.
 */
async function instructionsOf(folder, commands, {env, budget}) {
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), {recursive: true});
  const [script, empty] = ['kcri.js', 'empty.js'].map((file) => join(folder, 'bin', file));
  writeFileSync(empty, '');
  for (const args of Object.values(commands))
    await promisify(execFile)(process.execPath, [script, ...args], {env});
  const start = await countInstructions([empty], env);
  const counts = Object.entries(commands).map(async ([name, args]) => {
    const limit = limitOf(budget[name]?.instructions ?? 0, LEEWAY.instructions);
    return [name, (await countInstructions([script, ...args], env, start + limit)) - start];
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** Returns the entry of a command in the file. */
function entryOf({chunks, outside}, allChunks) {
  const loaded = allChunks.filter(({name}) => chunks.has(name)).flatMap(({modules}) => [...modules]);
  return {
    bytes: loaded.reduce((sum, [, bytes]) => sum + bytes, 0),
    outside: outside.toSorted(),
    modules: loaded.map(([module]) => module).sort(),
  };
}

async function measure(folder, budget) {
  const quick = join(folder, 'dist/quick');
  const {chunks, inputs} = await bundle(quick);
  const logPath = join(folder, 'container.log');
  writeFileSync(logPath, '2026-11-20T10:00:00.123456789Z stdout F listening\n');
  const runtime = await startFakeRuntime({logPath});
  const env = {
    PATH: process.env.PATH,
    CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
    NODE_COMPILE_CACHE: join(folder, 'cache'),
  };
  const now = {};
  const counted = {};
  for (const [name, {args: argsFor, exitCode = 0, isCounted}] of Object.entries(COMMANDS)) {
    const args = argsFor(runtime.containers[0].id);
    now[name] = entryOf(await loadedBy(quick, args, exitCode, env), chunks);
    if (isCounted) counted[name] = args;
  }
  for (const [name, count] of Object.entries(await instructionsOf(folder, counted, {env, budget})))
    now[name].instructions = count;
  await runtime[Symbol.asyncDispose]();
  const sizes = Object.fromEntries(chunks.flatMap(({modules}) => [...modules]));
  return {graph: {inputs, sizes, entry: ENTRY}, now};
}

/** Returns what is wrong with a command, one text per line. */
function faults(budget, now, graph, isCounted) {
  const excess =
    isCounted && now.instructions !== undefined
      ? excessInstructions(budget.instructions, now.instructions)
      : undefined;
  return [...(excess === undefined ? [] : [excess]), ...additions(budget, now, graph)];
}

/** Returns the lines of the faults. Commands with the same fault share one. */
function joinNames(all) {
  const texts = [...new Set(all.map(({text}) => text))];
  const namesOf = (text) => all.filter((fault) => fault.text === text).map(({name}) => name);
  return texts.map((text) => `${namesOf(text).join(', ')}: ${text}\n`);
}

/**
 * Compares the figures with those of the file, and prints each excess. Returns false for an excess, and in CI if the
 * instructions cannot be compared.
 */
function compare({graph, now}, budget) {
  const reason = explainOtherNode(budget.node, MAJOR);
  if (reason !== undefined) process.stdout.write(`note: ${reason}\n`);
  const found = joinNames(
    Object.keys(COMMANDS).flatMap((name) =>
      faults(budget[name], now[name], graph, reason === undefined).map((text) => ({name, text})),
    ),
  );
  process.stderr.write(found.join(''));
  if (found.length > 0)
    process.stderr.write(
      'Load what is not needed at once with import(). If a command needs it, accept the new figures with ' +
        '"node scripts/startup-budget.mjs --update", and say why in the commit.\n',
    );
  return found.length === 0 && (reason === undefined || process.env.CI !== 'true');
}

const isUpdate = process.argv.includes('--update');
const budget = isUpdate ? {} : JSON.parse(readFileSync(FILE, 'utf8'));
const folder = mkdtempSync(join(ROOT, 'dist/.budget-'));
const measured = await measure(folder, budget).finally(() => rmSync(folder, {recursive: true}));
if (isUpdate) {
  writeFileSync(FILE, JSON.stringify({node: MAJOR, ...measured.now}));
  await promisify(execFile)(process.execPath, ['node_modules/oxfmt/bin/oxfmt', FILE], {cwd: ROOT});
} else if (!compare(measured, budget)) process.exitCode = 1;
