/**
 * Makes dist/quick, what bin/kcri.js runs: the same program as dist/cli, in as few files as a command needs, beside a
 * loader that keeps them compiled. dist must be there: help is made by it.
 */
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {transform} from 'esbuild';
import {ENTRY, makeChunks} from './bundle/chunks.mjs';
import {helpTexts} from './bundle/help.mjs';

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
  const start = withImports(chunks, [ENTRY]);
  const hot = new Set([...withImports(chunks, HOT_ENTRIES)].filter((name) => !start.has(name)));
  const files = new Map([
    [START, fileOf(chunks.filter(({name}) => start.has(name)))],
    [HOT, fileOf(chunks.filter(({name}) => hot.has(name)))],
    ...chunks
      .filter(({name}) => !start.has(name) && !hot.has(name))
      .map((chunk) => [chunk.name, fileOf([chunk])]),
  ]);
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  for (const [name, source] of files) writeFileSync(join(folder, `${name}.js`), source, 'latin1');
  writeFileSync(join(folder, 'loader.cjs'), await loader(chunks, files, [...hot]));
  return {chunks, inputs};
}

/** The names of the chunks for some modules, and of all that are loaded with them. */
function withImports(chunks, entries) {
  const byName = new Map(chunks.map((chunk) => [chunk.name, chunk]));
  const names = new Set();
  const add = (name) => {
    if (names.has(name)) return;
    names.add(name);
    byName.get(name).imports.forEach(add);
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

/** A script that gives functions by the names of chunks. */
function fileOf(chunks) {
  const members = chunks.map(
    ({name, code}) =>
      `${JSON.stringify(name)}:function(exports,require,module,importMetaUrl,deferred){${code}\n}`,
  );
  const source = `({${members.join(',\n')}})`;
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

if (fileURLToPath(import.meta.url) === process.argv[1]) await bundle();
