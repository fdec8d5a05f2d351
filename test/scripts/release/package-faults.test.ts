import {expect, test} from 'vitest';
import {findPackageFaults, type Pack, type PackedFile} from '../../../scripts/release/package-faults.mjs';

const aFile = (path: string, text = '', size = 0): PackedFile => ({path, text, size});

/** Returns a package without faults. */
function aPack({files = [], ...changes}: Partial<Pack> = {}): Pack {
  return {
    files: [
      aFile('package.json'),
      aFile('dist/quick/program.cjs', 'a("yaml")'),
      aFile('dist/library/index.js', 'import {a} from"./part.js";import b from"node:fs"'),
      aFile('dist/library/part.js', 'import("yaml")'),
      aFile('dist/cri/index.d.ts', "export {a} from '../base/errors.js'; // import {connect} from 'kcri'"),
      aFile('dist/base/errors.d.ts'),
      aFile('dist/man/kcri.1.gz'),
      ...files,
    ],
    manifest: {name: 'kcri', dependencies: {yaml: '1.0.0'}, man: ['./dist/man/kcri.1.gz']},
    pages: ['kcri.1'],
    root: '/checkout/kcri',
    ...changes,
  };
}

test('a correct package has no faults', () => {
  expect(findPackageFaults(aPack())).toEqual([]);
});

test.each([
  ['too many bytes', aFile('LICENSE', '', 5_250_001), 'it has 5250001 bytes unpacked, more than 5250000'],
  ['a test', aFile('dist/cri/codec.test.js'), 'dist/cri/codec.test.js is in it'],
  ['a source', aFile('src/cri/index.ts'), 'src/cri/index.ts is in it'],
  ['a source map', aFile('dist/quick/program.cjs.map'), 'dist/quick/program.cjs.map is in it'],
  ["V8's code", aFile('dist/quick/compiled/program.cjs'), 'dist/quick/compiled/program.cjs is in it'],
  ['the checkout’s path', aFile('README.md', 'in /checkout/kcri'), 'README.md has /checkout/kcri'],
  ['a path of this machine', aFile('bin/kcri.js', '"/home/me/x"'), 'bin/kcri.js has /home/me/x'],
  [
    'an import of a module that is not a dependency',
    aFile('dist/library/more.js', 'import{x}from"chalk"'),
    'dist/library/more.js imports chalk, which is not a dependency',
  ],
  [
    'types that import missing types',
    aFile('dist/cri/a.d.ts', "import type {B} from './b.js'"),
    'dist/cri/a.d.ts imports dist/cri/b.d.ts, which is not in it',
  ],
])('%s is a fault', (_, file, fault) => {
  expect(findPackageFaults(aPack({files: [file]}))).toEqual([fault]);
});

test('an unused dependency, an unlisted manual page and a missing manual page are faults', () => {
  const {manifest} = aPack();
  expect(findPackageFaults(aPack({manifest: {...manifest, dependencies: {yaml: '1', ws: '1'}}}))).toEqual([
    'ws is a dependency that nothing imports',
  ]);
  expect(findPackageFaults(aPack({pages: ['kcri-ps.1']}))).toEqual([
    './dist/man/kcri-ps.1.gz is missing in package.json\'s "man"',
    'package.json\'s "man" has ./dist/man/kcri.1.gz, which isn\'t there',
  ]);
});
