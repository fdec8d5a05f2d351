import {expect, test} from 'vitest';
import {additions, type Graph, type Loaded} from '../../../scripts/startup/additions.mjs';

const importing = (...paths: readonly string[]) => ({imports: paths.map((path) => ({path}))});
const graph: Graph = {
  entry: 'main.ts',
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
  ['a few bytes', {bytes: 6000}, []],
  ['many bytes', {bytes: 6025}, ['loads 6025 bytes, 1025 more than its budget']],
  [
    'a module, with its import chain',
    {bytes: 9000, modules: [...budget.modules, 'yaml.ts']},
    ['loads main.ts → ps.ts → format.ts → yaml.ts'],
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
