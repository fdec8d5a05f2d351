/**
 * Builds dist/binary/kcri-TARGET, executables of Bun and the compiled program. Needs dist. A target other than this
 * machine only needs its Bun executable.
 * Usage: npm run build:binary [-- TARGET…]      (default linux-x64 and linux-arm64)
 */
import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, rename, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs, promisify} from 'node:util';
import {build} from 'esbuild';
import {blankNames, CODE_LOADING_NAMES} from './binary/blank-names.mjs';
import {bytecodeOrder} from './binary/bytecode-order.mjs';
import {excludeFromFtl} from './binary/exclude-from-ftl.mjs';
import {missingModules} from './binary/missing-modules.mjs';
import {bunFor, HOST_TARGET, TARGETS} from './binary/runtimes.mjs';
import {helpTexts} from './bundle/help.mjs';
import {programOptions} from './bundle/program.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDER = join(ROOT, 'dist/binary');
/** Name of an executable, and its entry module. */
const KCRI = {name: 'kcri', entry: 'src/program/bundled/standalone.ts', ordered: true};
/** The executable in which unit tests run command lines, built in the same way (test/cli/worker). */
const TEST_WORKER = {name: 'kcri-test-worker', entry: 'test/cli/worker/worker.ts'};

/** Options that prevent files in the current directory from changing what kcri does, since it often runs as root. */
const IGNORE_CURRENT_DIRECTORY = [
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
  '--no-compile-autoload-tsconfig',
  '--no-compile-autoload-package-json',
];

/** Factor by which JIT compilation is delayed: most commands end before it pays off. */
const JIT_POLICY = 5;

/** Builds the executables for the targets in `folder`, and returns their files and the metafile of the program. */
export async function buildBinaries(
  targets,
  {folder = FOLDER, program: {name, entry, ordered = false} = KCRI} = {},
) {
  await mkdir(folder, {recursive: true});
  const scratch = await mkdtemp(join(folder, '.build-'));
  try {
    const modules = join(scratch, 'program');
    const metafile = await writeProgram(modules, entry);
    const order = ordered
      ? await bytecodeOrder(await compile({name, target: HOST_TARGET, modules}), scratch)
      : [];
    const files = [];
    for (const target of targets) {
      const file = join(folder, `${name}-${target}`);
      const compiled = await compile({name, target, modules, order});
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
  await buildBinaries([HOST_TARGET], {program: TEST_WORKER});
}

/** Writes the program's modules, which import() loads lazily, as Bun expects them. */
async function writeProgram(outdir, entry) {
  const options = programOptions(ROOT, await helpTexts(ROOT));
  const {metafile} = await build({
    ...options,
    // Some packages look for files beside their modules, which kcri does not need. Bun would insert the build path.
    define: {...options.define, __dirname: '"/"', __filename: '"/kcri"'},
    plugins: [...options.plugins, excludeFromFtl(ROOT)],
    external: ['bun:*'],
    entryPoints: [entry],
    entryNames: 'program',
    chunkNames: '[name]-[hash]',
    outdir,
    minifyWhitespace: true,
  });
  const missing = missingModules(metafile);
  if (missing.length > 0)
    throw new Error(`the executable would load ${missing.join(', ')} from the current directory`);
  return metafile;
}

/** Compiles an executable beside the program's modules, and returns its file. */
async function compile({name, target, modules, order = []}) {
  const output = join(modules, '..', name);
  await promisify(execFile)(
    await bunFor(HOST_TARGET),
    [
      'build',
      '--compile',
      `--compile-executable-path=${await bunFor(target)}`,
      ...IGNORE_CURRENT_DIRECTORY,
      `--compile-jit-policy=${JIT_POLICY}`,
      '--bytecode',
      ...order.map((file) => `--bytecode-order=${file}`),
      '--format=esm',
      '--splitting',
      `--outfile=${output}`,
      join(modules, 'program.js'),
    ],
    {cwd: modules},
  );
  return output;
}

if (fileURLToPath(import.meta.url) === process.argv[1]) {
  const {positionals} = parseArgs({allowPositionals: true});
  const targets = positionals.length > 0 ? positionals : ['linux-x64', 'linux-arm64'];
  const unknown = targets.find((target) => !TARGETS.includes(target));
  if (unknown === undefined) {
    for (const file of (await buildBinaries(targets)).files) process.stdout.write(`${file}\n`);
  } else {
    process.stderr.write(`unknown target "${unknown}": use ${TARGETS.join(', ')}\n`);
    process.exitCode = 1;
  }
}
