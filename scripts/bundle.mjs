/**
 * Builds the contents of the package from dist: dist/quick, the program of bin/kcri.js in few files; dist/library, the
 * client for other programs; the licenses of bundled packages; and the manual. Needs dist, which renders the help
 * texts.
 */
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {transform} from 'esbuild';
import {ENTRY_FILE, makeChunks} from './bundle/chunks.mjs';
import {helpTexts} from './bundle/help.mjs';
import {bundleLibrary} from './bundle/library.mjs';
import {manualPages} from './bundle/manual.mjs';
import {removeOrphans} from './bundle/orphans.mjs';
import {bundleUi} from './bundle/ui.mjs';
import {notices, listPackages} from './release/packages.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Writes the bundle to `folder`, and returns its chunks and the graph of imports. */
export async function bundle(folder = join(ROOT, 'dist/quick')) {
  const {chunks, inputs} = await makeChunks(ROOT, await helpTexts(ROOT));
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  for (const file of new Set(chunks.map((chunk) => chunk.file)))
    writeFileSync(join(folder, file), script(chunks.filter((chunk) => chunk.file === file)), 'latin1');
  writeFileSync(join(folder, 'loader.cjs'), await loader(chunks));
  return {chunks, inputs};
}

/** Writes the manual pages, compressed for `man`. */
async function writeManual() {
  const folder = join(ROOT, 'dist/man');
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder);
  for (const [name, text] of await manualPages(ROOT))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text, {level: 9}));
}

/** Returns the modules with code in a bundle. */
export function bundledModules({chunks}) {
  return chunks.flatMap(({modules}) =>
    [...modules].flatMap(([module, bytes]) => (bytes > 0 ? [module] : [])),
  );
}

/** Returns a script that evaluates to the functions of chunks. V8 compiles functions in parentheses with the script. */
function script(chunks) {
  const members = chunks.map(({name, code}) => {
    // The loader reads it as Latin-1, since esbuild escapes other characters.
    if (/[^\0-\x7f]/.test(code)) throw new Error(`${name} contains non-ASCII characters`);
    return `${JSON.stringify(name)}:(function(require,provide){${code}})`;
  });
  return `({${members.join(',\n')}})`;
}

async function loader(chunks) {
  const hash = createHash('sha256');
  for (const {name, code} of chunks) hash.update(`${name}\n${code}\n`);
  const shared = chunks.filter(({name, file}) => name !== file);
  const {code} = await transform(readFileSync(join(ROOT, 'scripts/bundle/loader.cjs'), 'utf8'), {
    define: {
      ENTRY_FILE: JSON.stringify(ENTRY_FILE),
      FILES: JSON.stringify(Object.fromEntries(shared.map(({name, file}) => [name, file]))),
      BUILD: JSON.stringify(hash.digest('hex').slice(0, 16)),
    },
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    minify: true,
  });
  return code;
}

if (fileURLToPath(import.meta.url) === process.argv[1]) {
  // From now on dist is not what `npm test` last built.
  for (const stamp of ['.built', '.built-executables']) rmSync(join(ROOT, 'dist', stamp), {force: true});
  removeOrphans(ROOT);
  // The bundle contains the page.
  const ofPage = await bundleUi(ROOT);
  const modules = [...bundledModules(await bundle()), ...ofPage];
  const packages = listPackages(ROOT, modules);
  await bundleLibrary(ROOT);
  writeFileSync(join(ROOT, 'dist/THIRD-PARTY-NOTICES.txt'), notices(ROOT, packages));
  await writeManual();
}
