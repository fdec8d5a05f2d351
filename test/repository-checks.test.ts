import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Returns the hand-written TypeScript files by folder. */
function listSources(folder: string): ReadonlyMap<string, readonly string[]> {
  const byFolder = new Map<string, string[]>();
  for (const entry of readdirSync(join(ROOT, folder), {recursive: true, withFileTypes: true})) {
    const parent = entry.parentPath.slice(ROOT.length + 1);
    if (!entry.isFile() || !entry.name.endsWith('.ts') || /^src\/\w+\/gen$/.test(parent)) continue;
    byFolder.set(parent, [...(byFolder.get(parent) ?? []), entry.name]);
  }
  return byFolder;
}

test('no folder of src has more than 25 files, except the commands', () => {
  const crowded = [...listSources('src')].filter(
    ([folder, files]) => folder !== 'src/commands' && files.length > 25,
  );
  expect(crowded.map(([folder]) => folder)).toEqual([]);
});

test('no two files of the kubelet have the same name', () => {
  const names = [...listSources('src/kubelet').values()].flat().filter((name) => name !== 'index.ts');
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('only onAbort() adds listeners to signals: of more than ten, Node.js warns', () => {
  const listening = [...listSources('src')].flatMap(([folder, files]) =>
    folder.startsWith('src/ui-page')
      ? []
      : files
          .map((file) => `${folder}/${file}`)
          .filter((file) => readFileSync(join(ROOT, file), 'utf8').includes("addEventListener('abort'")),
  );
  expect(listening).toEqual(['src/base/async/abort-callbacks.ts']);
});

test('every path named in a document exists', () => {
  const documents = [
    ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'],
    ...readdirSync(join(ROOT, 'docs'), {recursive: true, encoding: 'utf8'})
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];
  const missing = documents.flatMap((document) =>
    Array.from(
      readFileSync(join(ROOT, document), 'utf8').matchAll(
        /`((?:src|test|scripts|docs|examples)\/[\w./-]+)`/g,
      ),
      ([, path = '']) => `${document}: ${path}`,
    ).filter((line) => !existsSync(join(ROOT, line.slice(document.length + 2)))),
  );
  expect(missing).toEqual([]);
});

/** Matches `{a, b: c} … 'dist/x/y.js'` of imports and of `await load('x/y.js')`, where the module is one of src. */
const IMPORT_OF_DIST =
  /(?:import|const) \{([^}]*)\} (?:=|from)[^;']*(?:join\(ROOT, )?'(?:[./]*dist\/)?([\w/.-]+)\.js'/g;

test('every name that a script imports from dist is exported there', () => {
  const scripts = ['scripts', 'test/bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), {recursive: true, encoding: 'utf8'})
      .filter((name) => name.endsWith('.mjs'))
      .map((name) => `${folder}/${name}`),
  );
  const imports = scripts.flatMap((script) =>
    Array.from(readFileSync(join(ROOT, script), 'utf8').matchAll(IMPORT_OF_DIST)).flatMap(
      ([, names = '', module = '']) =>
        [`src/${module}.ts`]
          .filter((source) => existsSync(join(ROOT, source)))
          .flatMap((source) =>
            names.split(',').map((name) => ({script, source, name: name.trim().split(/[ :]/)[0]!})),
          ),
    ),
  );
  expect(imports.length).toBeGreaterThan(15);
  expect(imports.filter(({source, name}) => !exportedBy(source).includes(name))).toEqual([]);
});

/** Returns the names that a module exports, as they are written in its source. */
function exportedBy(source: string): readonly string[] {
  const text = readFileSync(join(ROOT, source), 'utf8');
  const declared = text.matchAll(/^export (?:default )?(?:async )?(?:const|function\*?|class|let) (\w+)/gm);
  const listed = text.matchAll(/^export \{([^}]*)\}/gm);
  return [
    ...Array.from(declared, ([, name = '']) => name),
    ...Array.from(listed).flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim().split(' ').at(-1)!),
    ),
  ];
}

/** Matches the time limit of one test or of one `expect.poll`. */
const TIME_LIMIT = /^ *\},\s*\d[\d_]{3,},?\s*\);$|(?:, |^ *)\{timeout: [\d_]+\}(?:\)|,$)/gm;

test('no test has a time limit of its own, since no machine may be too slow', () => {
  const limits = [...listSources('test')].flatMap(([folder, names]) =>
    names
      .filter((name) => name.endsWith('.test.ts'))
      .flatMap((name) => {
        const text = readFileSync(join(ROOT, folder, name), 'utf8');
        return Array.from(text.matchAll(TIME_LIMIT), ([limit]) => `${folder}/${name}: ${limit.trim()}`);
      }),
  );
  expect(limits).toEqual([]);
});
