/**
 * Makes dist/binary/kcri-TARGET: kcri and Bun in one executable, with the program compiled. dist must be there. For
 * another target than this machine nothing more is needed than its Bun.
 * Usage: npm run build:binary [-- TARGET…]      (default linux-x64 and linux-arm64; others are linux-x64-musl and …)
 */
import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, rename, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs, promisify} from 'node:util';
import {build} from 'esbuild';
import {blankNames, CODE_LOADING_NAMES} from './binary/blank-names.mjs';
import {bytecodeOrder} from './binary/bytecode-order.mjs';
import {fewerCompilers} from './binary/fewer-compilers.mjs';
import {missingModules} from './binary/missing-modules.mjs';
import {bunFor, HOST_TARGET, TARGETS} from './binary/runtimes.mjs';
import {helpTexts} from './bundle/help.mjs';
import {programOptions} from './bundle/program.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDER = join(ROOT, 'dist/binary');
/** What is made: its name, and the module that starts the program. */
const KCRI = {name: 'kcri', entry: 'src/cli/bundled/standalone.ts', ordered: true};
/** The executable in which unit tests run command lines, built in the same way (test/cli/worker). */
const TEST_WORKER = {name: 'kcri-test-worker', entry: 'test/cli/worker/worker.ts'};

/** Whatever lies in the folder that kcri is called in must not change what it does: it runs as root. */
const NOTHING_FROM_OUTSIDE = [
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
  '--no-compile-autoload-tsconfig',
  '--no-compile-autoload-package-json',
];

/** How much later than usual code becomes machine code: a command is over before that would pay. */
const JIT_POLICY = 5;

/** Makes the executables for some targets, and gives their files. */
export async function buildBinaries(targets, {name, entry, ordered = false} = KCRI) {
  await mkdir(FOLDER, {recursive: true});
  const scratch = await mkdtemp(join(FOLDER, '.build-'));
  try {
    const program = join(scratch, 'program');
    const metafile = await writeProgram(program, entry);
    const order = ordered
      ? await bytecodeOrder(await compile({name, target: HOST_TARGET, program}), scratch)
      : [];
    const files = [];
    for (const target of targets) {
      const file = join(FOLDER, `${name}-${target}`);
      const compiled = await compile({name, target, program, order});
      await blankNames(compiled, CODE_LOADING_NAMES);
      await rename(compiled, file);
      files.push(file);
    }
    return {files, metafile};
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}

/** Builds the test worker for this machine. */
export async function buildTestWorker() {
  await buildBinaries([HOST_TARGET], TEST_WORKER);
}

/** Modules that are loaded as they are used, as Bun takes them in. */
async function writeProgram(outdir, entry) {
  const options = programOptions(ROOT, await helpTexts(ROOT));
  const {metafile} = await build({
    ...options,
    // Some packages look for files beside them, which kcri does not use. Bun would insert the path of the build.
    define: {...options.define, __dirname: '"/"', __filename: '"/kcri"'},
    plugins: [...options.plugins, fewerCompilers(ROOT)],
    external: ['bun:*'],
    entryPoints: [entry],
    entryNames: 'program',
    chunkNames: '[name]-[hash]',
    outdir,
    minifyWhitespace: true,
  });
  const missing = missingModules(metafile);
  if (missing.length > 0)
    throw new Error(`the executable would look for ${missing.join(', ')} where it is called`);
  return metafile;
}

/** Makes an executable beside the program's modules. */
async function compile({name, target, program, order = []}) {
  const made = join(program, '..', name);
  await promisify(execFile)(
    await bunFor(HOST_TARGET),
    [
      'build',
      '--compile',
      `--compile-executable-path=${await bunFor(target)}`,
      ...NOTHING_FROM_OUTSIDE,
      `--compile-jit-policy=${JIT_POLICY}`,
      '--bytecode',
      ...order.map((file) => `--bytecode-order=${file}`),
      '--format=esm',
      '--splitting',
      `--outfile=${made}`,
      join(program, 'program.js'),
    ],
    {cwd: program},
  );
  return made;
}

if (fileURLToPath(import.meta.url) === process.argv[1]) {
  const {positionals} = parseArgs({allowPositionals: true});
  const targets = positionals.length > 0 ? positionals : ['linux-x64', 'linux-arm64'];
  const unknown = targets.find((target) => !TARGETS.includes(target));
  if (unknown === undefined) {
    for (const file of (await buildBinaries(targets)).files) process.stdout.write(`${file}\n`);
  } else {
    process.stderr.write(`there is no target "${unknown}": use ${TARGETS.join(', ')}\n`);
    process.exitCode = 1;
  }
}
