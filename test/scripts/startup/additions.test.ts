import {expect, test} from 'vitest';
import {additions, type Graph, type Loaded} from '../../../scripts/startup/additions.mjs';

const importing = (...paths: readonly string[]) => ({imports: paths.map((path) => ({path}))});
const LETTERS = 'abcdefg'.split('');
const graph: Graph = {
  entry: 'main.ts',
  sizes: {
    'yaml.ts': 3900,
    ...Object.fromEntries(LETTERS.map((name, index) => [name, 100 * index])),
  },
  inputs: {
    'main.ts': importing('ps.ts', 'help.ts'),
    'help.ts': importing('yaml.ts'),
    'ps.ts': importing('format.ts'),
    'format.ts': importing('yaml.ts', 'node:crypto'),
  },
};
const budget: Loaded = {bytes: 5000, outside: ['node:fs'], modules: ['main.ts', 'ps.ts', 'format.ts']};

test.each<[string, Partial<Loaded>, readonly string[]]>([
  ['no change', {}, []],
  ['less', {bytes: 10, modules: ['main.ts'], outside: []}, []],
  ['3 % more bytes', {bytes: 5150}, []],
  ['more bytes than that', {bytes: 5160}, ['loads 5,160 bytes, 3.2 % more than its budget of 5,000']],
  [
    'a module, with its import chain',
    {bytes: 8900, modules: [...budget.modules, 'yaml.ts']},
    [
      'loads 8,900 bytes, 78.0 % more than its budget of 5,000',
      'loads 3,900 bytes of main.ts → ps.ts → format.ts → yaml.ts',
    ],
  ],
  [
    'many modules, of which the heaviest are named',
    {modules: [...budget.modules, ...LETTERS]},
    [
      ...['loads 600 bytes of g', 'loads 500 bytes of f', 'loads 400 bytes of e', 'loads 300 bytes of d'],
      ...['loads 200 bytes of c', 'loads 100 bytes of 2 smaller new modules'],
    ],
  ],
  [
    'a Node.js module',
    {outside: ['node:fs', 'node:crypto']},
    ['loads main.ts → ps.ts → format.ts → node:crypto'],
  ],
  ['a module without a known importer', {outside: ['odd']}, ['loads odd']],
])('%s', (_, change, expected) => {
  expect(additions(budget, {...budget, ...change}, graph)).toEqual(expected);
});
