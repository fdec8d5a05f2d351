import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {bundleUi, findBudgetFaults} from '../../../scripts/bundle/ui.mjs';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const ROOT = join(import.meta.dirname, '../../..');

test('the page has nothing inline, loads nothing from elsewhere, and loads its large libraries later', async () => {
  const folder = await temporaryDirectory();
  const modules = await bundleUi(ROOT, folder);
  expect(modules).toContain('src/ui-page/main.tsx');
  const names = (await readdir(folder)).toSorted();
  expect(names.map((name) => name.replace(/-\w+\.js$/, '-HASH.js'))).toEqual([
    'app.css',
    'app.js',
    'chart-HASH.js',
    'index.html',
    'terminal-HASH.js',
  ]);
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  expect(html.match(/<script(?! type="module" src="app\.js"><\/script>)|<style| style=| on\w+=/g)).toBeNull();
  const css = await readFile(join(folder, 'app.css'), 'utf8');
  expect(css.match(/@import|url\(/g)).toBeNull();
  const code = await readFile(join(folder, 'app.js'), 'utf8');
  expect(code.match(/https?:\/\/(?!www\.w3\.org\/)[\w.]+/g)).toBeNull();
});

test.each([
  [{'app.js': 1000, 'app.css': 1000, 'terminal-X.js': 300_000}, []],
  [{'app.css': 1000}, ['the page has no app.js']],
  [{'app.js': 70_000, 'app.css': 1000}, ['app.js of the page has 70000 bytes, more than 64000']],
  [{'app.js': 1000, 'app.css': 1000, 'x.js': 600_000}, ['the page has 602000 bytes, more than 500000']],
])('files of the sizes %j have the faults %j', (sizes, faults) => {
  expect(findBudgetFaults(new Map(Object.entries(sizes)))).toEqual(faults);
});
