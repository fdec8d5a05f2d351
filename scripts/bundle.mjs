/**
 * Makes of dist what the package has in place of it: dist/quick, which bin/kcri.js runs, is the same program as dist/cli
 * in as few files as a command needs, beside a loader that keeps them compiled; dist/library is what programs import;
 * the licences of what is in them; and the manual. dist must be there: help is made by it.
 */
import {createHash} from 'node:crypto';
import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {transform} from 'esbuild';
import {ENTRY, makeChunks} from './bundle/chunks.mjs';
import {helpTexts} from './bundle/help.mjs';
import {joined} from './bundle/join.mjs';
import {bundleLibrary} from './bundle/library.mjs';
import {removeOrphans} from './bundle/orphans.mjs';
import {notices, packagesOf} from './release/packages.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const START = 'start';
const HOT = 'hot';

/** Chunks for these are in one file, beside that of what every run needs: the commands that are run most. */
const HOT_ENTRIES = [
  'src/cri/index.ts',
  ...['exec', 'images', 'inspect', 'pods', 'ps', 'version'].map((name) => `src/commands/${name}.ts`),
];

/** Large, rarely used, and there anyway: the client that programs import needs them too. */
const EXTERNAL = ['@grpc/grpc-js', '@opentelemetry/*'];

/** Writes the bundle to `folder`, and gives what is in it: what was bundled into which chunk. */
export async function bundle(folder = join(ROOT, 'dist/quick')) {
  const {chunks, inputs} = await makeChunks(ROOT, await helpTexts(ROOT), EXTERNAL);
  const byName = new Map(chunks.map((chunk) => [chunk.name, chunk]));
  const start = withImports(chunks, byName, [ENTRY]);
  const hot = new Set([...withImports(chunks, byName, HOT_ENTRIES)].filter((name) => !start.has(name)));
  const groups = [
    [START, chunks.filter(({name}) => start.has(name))],
    [HOT, chunks.filter(({name}) => hot.has(name))],
    ...chunks.filter(({name}) => !start.has(name) && !hot.has(name)).map((chunk) => [chunk.name, [chunk]]),
  ];
  const files = new Map();
  for (const [name, members] of groups) files.set(name, await fileOf(members));
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  for (const [name, source] of files) writeFileSync(join(folder, `${name}.js`), source, 'latin1');
  writeFileSync(join(folder, 'loader.cjs'), await loader(chunks, files, [...hot]));
  return {chunks, inputs};
}

/** `man` reads pages that are compressed too. */
function compressManual() {
  const folder = join(ROOT, 'dist/man');
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder);
  for (const page of readdirSync(join(ROOT, 'man')))
    writeFileSync(join(folder, `${page}.gz`), gzipSync(readFileSync(join(ROOT, 'man', page)), {level: 9}));
}

/** The modules of which something is in a bundle. */
export function bundledModules({chunks}) {
  return chunks.flatMap(({modules}) =>
    [...modules].flatMap(([module, bytes]) => (bytes > 0 ? [module] : [])),
  );
}

/** The names of the chunks for some modules, and of all that are loaded with them. Throws when some need each other. */
function withImports(chunks, byName, entries) {
  const names = new Set();
  const add = (name, within = []) => {
    // What a chunk takes from another one must be there when it runs (join.mjs).
    if (within.includes(name)) throw new Error(`chunks import each other: ${[...within, name].join(' → ')}`);
    if (names.has(name)) return;
    names.add(name);
    for (const imported of byName.get(name).imports) add(imported, [...within, name]);
  };
  for (const entry of entries) add(chunkFor(chunks, entry).name);
  return names;
}

function chunkFor(chunks, module) {
  const found = chunks.find(({entry}) => entry === module);
  if (found === undefined)
    throw new Error(`there is no chunk for ${module}: is it still loaded by import()?`);
  return found;
}

async function fileOf(chunks) {
  const source = await joined(chunks);
  // The loader reads bytes as characters; esbuild writes others as escapes.
  if (/[^\0-\x7f]/.test(source)) throw new Error(`${chunks[0].name} has characters beyond ASCII`);
  return source;
}

async function loader(chunks, files, hot) {
  const hash = createHash('sha256');
  for (const [name, source] of files) hash.update(`${name}\n${source}\n`);
  const {code} = await transform(readFileSync(join(ROOT, 'scripts/bundle/loader.cjs'), 'utf8'), {
    define: {
      ENTRY: JSON.stringify(chunkFor(chunks, ENTRY).name),
      START: JSON.stringify(START),
      HOT: JSON.stringify(HOT),
      HOT_CHUNKS: JSON.stringify(hot),
      BUILD: JSON.stringify(hash.digest('hex').slice(0, 16)),
    },
    minifyWhitespace: true,
  });
  return code;
}

if (fileURLToPath(import.meta.url) === process.argv[1]) {
  removeOrphans(ROOT);
  const packages = packagesOf(ROOT, bundledModules(await bundle()));
  await bundleLibrary(ROOT);
  writeFileSync(join(ROOT, 'dist/THIRD-PARTY-NOTICES.txt'), notices(ROOT, packages));
  compressManual();
}
