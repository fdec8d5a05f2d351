import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Checks of `npm run check` that a change often breaks unnoticed. */
test.each(['imports', 'generated files', 'manual pages', 'flag table'])(
  'the check of %s passes',
  {timeout: 120_000},
  (name) => {
    const {stdout} = spawnSync(process.execPath, ['scripts/check.mjs', name], {cwd: ROOT, encoding: 'utf8'});
    expect(stdout).toContain(`${name} … ok\nall checks passed\n`);
  },
);

/** Returns the hand-written TypeScript files by folder. */
function listSources(folder: string): ReadonlyMap<string, readonly string[]> {
  const byFolder = new Map<string, string[]>();
  for (const entry of readdirSync(join(ROOT, folder), {recursive: true, withFileTypes: true})) {
    const parent = entry.parentPath.slice(ROOT.length + 1);
    if (!entry.isFile() || !entry.name.endsWith('.ts') || parent === 'src/cri/gen') continue;
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
