import {expect, test} from 'vitest';
import {listMutants, applyMutant} from '../../../scripts/mutation/mutants.mjs';

/** Returns the source with each of its mutations. */
function mutatedTexts(text: string): readonly string[] {
  return listMutants(text).map((mutant) => applyMutant(text, mutant));
}

test.each<[string, string, readonly string[]]>([
  ['comparisons', 'a === b;', ['{}', 'a !== b;']],
  ['limits', 'f = a < b;', ['{}', 'f = a <= b;', 'f = a >= b;']],
  ['sums', 'f = a + b;', ['{}', 'f = a - b;']],
  ['joined conditions', 'f = a && b;', ['{}', 'f = a;', 'f = b;']],
  ['defaults', 'f = a ?? b;', ['{}', 'f = a;', 'f = b;']],
  ['negations', 'f = !a;', ['{}', 'f = a;']],
  ['branches', 'if (a) throw b;', ['if (true) throw b;', 'if (false) throw b;', 'if (a) {}']],
  ['conditional expressions', 'f = a ? b : c;', ['{}', 'f = true ? b : c;', 'f = false ? b : c;']],
  ['numbers', 'f = 7;', ['{}', 'f = 8;', 'f = 6;']],
  ['bigints', 'f = 1_000n;', ['{}', 'f = 1001n;', 'f = 999n;']],
  ['strings', "f = 'a';", ['{}', "f = '';"]],
  ['empty strings', "f = '';", ['{}', "f = 'other';"]],
  ['anchors of patterns', 'f = /^a$/;', ['{}', 'f = /a$/;', 'f = /^a/;']],
  ['elements', 'f = [a, ...b];', ['{}', 'f = [...b];', 'f = [a];']],
  ['properties', 'f = {a, b};', ['{}', 'f = {b};', 'f = {a};']],
  [
    'some and every',
    'f = a.some((b) => c);',
    ['{}', 'f = a.every((b) => c);', 'f = a.some((b) => true);', 'f = a.some((b) => false);'],
  ],
  [
    'array methods',
    'f = a.filter((b) => c);',
    ['{}', 'f = a;', 'f = a.filter((b) => true);', 'f = a.filter((b) => false);'],
  ],
  [
    'returned booleans',
    'function f(): boolean { return a; }',
    ['function f(): boolean { return true; }', 'function f(): boolean { return false; }'],
  ],
  [
    'optional results',
    'function f(): A | undefined { return a; }',
    ['function f(): A | undefined { return undefined; }'],
  ],
  ['returned lists', 'const f = (): A[] => a;', ['const f = (): A[] => [];']],
])('%s are mutated', (_title, text, expected) => {
  expect(mutatedTexts(text).toSorted()).toEqual(expected.toSorted());
});

test('types and imports are not mutated', () => {
  expect(
    mutatedTexts("import {a} from './a.js';\ntype A = 'b' | 1;\ninterface B { readonly c: 'd' }"),
  ).toEqual([]);
});

test('a mutant has its line', () => {
  expect(listMutants('\n\nf(a === b);').find(({from}) => from === '===')).toMatchObject({line: 3, to: '!=='});
});
