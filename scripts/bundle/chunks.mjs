import {basename} from 'node:path';
import {build, transform} from 'esbuild';
import {provideExports} from './module-exports.mjs';
import {programOptions} from './program.mjs';
import {sharedChunks, withoutAddedModules} from './shared-chunks.mjs';

/** The entry module of the bundle. */
export const ENTRY = 'src/program/bundled/program.ts';

/** The file of the entry chunk, and of the chunks that every run loads. */
export const ENTRY_FILE = 'program.cjs';

/** Modules that nearly all commands need, which form one chunk. */
const COMMON = ['src/cri/index.ts', 'src/commands/version.ts'];

/** The most frequent short commands, which form another one with what most others need of them. */
const LISTS = ['images', 'pods', 'ps'].map((name) => `src/commands/${name}.ts`);

/** Modules of other frequent commands. They need few of the modules in the chunk of lists, which become chunks of their own. */
const FREQUENT = [
  ...['exec', 'inspect', 'logs'].map((name) => `src/commands/${name}.ts`),
  'src/operations/logs/log-read-strategy.ts',
  'src/features/containers/select-from-lists.ts',
  'src/operations/resolve/resolve-by-lists.ts',
];

/** Modules of `logs` that only some runs load, after those that every run loads. */
const PARTS_OF_LOGS = [
  'src/features/logs/follow-containers.ts',
  'src/operations/logs/follow/directory-watcher.ts',
  'src/operations/logs/follow/log-follower.ts',
  'src/operations/logs/follow/watch-log-directories.ts',
  'src/operations/logs/history/rotated-names.ts',
  'src/operations/logs/history/rotated-ranges.ts',
  'src/operations/logs/history/selected-start-finder.ts',
  'src/operations/logs/log-names.ts',
  'src/operations/logs/parse-since.ts',
];

/**
 * Files for several chunks, and the modules that are loaded by import() from them: each file that a run opens takes as long
 * as 70 kB of code.
 */
const SHARED_FILES = {
  'common.cjs': [...COMMON, ...LISTS],
  'frequent.cjs': [...FREQUENT, ...PARTS_OF_LOGS],
  'session.cjs': [
    'src/features/sessions/run-session.ts',
    'src/cli/process/standard-input.ts',
    'src/operations/exec/start-exec-session.ts',
    'src/operations/exec/exec-probe.ts',
    'src/containerd/connect-containerd.ts',
  ],
};

/** A package that is installed anyway, since the library needs it too. */
const EXTERNAL = ['@grpc/grpc-js'];

/** Chunks are functions of scripts, since V8's code cache works for scripts but not for ES modules (loader.cjs). */
const CHUNK = {
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  supported: {'dynamic-import': false},
  minify: true,
};

/**
 * Bundles the program into chunks. Each is loaded when it is first used.
 *
 * @typedef {object} Chunk
 * @property {string} name by which other chunks require it as `./NAME`
 * @property {string} file the file that contains it
 * @property {string} code the body of a function of `require` and `provide`, which takes the exports
 * @property {ReadonlyMap<string, number>} modules sizes in bytes by path relative to the checkout
 *
 * @param {string} root the checkout
 * @param {ReadonlyMap<string, string>} helpTexts see replacements.mjs
 * @returns {Promise<{chunks: readonly Chunk[], inputs: ReturnType<typeof withoutAddedModules>}>}
 */
export async function makeChunks(root, helpTexts) {
  const groups = {
    start: ENTRY,
    common: COMMON,
    lists: LISTS,
    startOnly: ['src/program/help.ts'],
    withoutLists: [...FREQUENT, ...PARTS_OF_LOGS],
    parts: {of: ['src/commands/logs.ts', 'src/operations/logs/log-read-strategy.ts'], modules: PARTS_OF_LOGS},
  };
  const options = programOptions(root, helpTexts);
  const {outputFiles, metafile} = await build({
    ...options,
    plugins: [sharedChunks(root, groups), ...options.plugins],
    entryPoints: [ENTRY],
    outdir: 'dist/quick',
    outExtension: {'.js': '.cjs'},
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    write: false,
    external: EXTERNAL,
  });
  const inputs = withoutAddedModules(metafile.inputs);
  const fileOf = filesByChunk(metafile.outputs);
  const chunks = outputFiles.map(async ({path, text}) => {
    const name = basename(path);
    const bytes = Object.entries(metafile.outputs[outputPath(name)].inputs);
    const {code} = await transform(provideExports(name, text), {...CHUNK, logLevel: 'warning'});
    const modules = bytes.map(([module, {bytesInOutput}]) => [module, bytesInOutput]);
    return {name, file: fileOf(name), code, modules: new Map(modules.filter(([module]) => module in inputs))};
  });
  return {chunks: await Promise.all(chunks), inputs};
}

/** Returns a function that returns the file of a chunk: the first shared file that needs it, or one of its own. */
function filesByChunk(outputs) {
  const groups = [[ENTRY_FILE, [outputPath(ENTRY_FILE)]]];
  for (const [file, modules] of Object.entries(SHARED_FILES)) {
    const isMember = (path) => modules.some((module) => outputs[path].entryPoint?.endsWith(`:${module}`));
    groups.push([file, Object.keys(outputs).filter(isMember)]);
  }
  const files = groups.map(([file, paths]) => ({file, chunks: withImported(outputs, paths)}));
  return (name) => files.find(({chunks}) => chunks.has(outputPath(name)))?.file ?? name;
}

/** Returns chunks, and those that they import before they run. */
function withImported(outputs, paths) {
  const found = new Set(paths);
  for (const path of found)
    for (const {path: imported, kind} of outputs[path].imports)
      if (kind === 'import-statement' && imported in outputs) found.add(imported);
  return found;
}

function outputPath(name) {
  return `dist/quick/${name}`;
}
