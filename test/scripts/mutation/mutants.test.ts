import {expect, test} from 'vitest';
import {listMutants, applyMutant} from '../../../scripts/mutation/mutants.mjs';

/** Every text that the source becomes by one fault. */
function faulty(text: string): readonly string[] {
  return listMutants(text).map((mutant) => applyMutant(text, mutant));
}

test.each<[string, string, readonly string[]]>([
  ['comparisons', 'a === b;', ['{}', 'a !== b;']],
  ['limits', 'f = a < b;', ['{}', 'f = a <= b;', 'f = a >= b;']],
  ['sums', 'f = a + b;', ['{}', 'f = a - b;']],
  ['conditions that are joined', 'f = a && b;', ['{}', 'f = a;', 'f = b;']],
  ['defaults', 'f = a ?? b;', ['{}', 'f = a;', 'f = b;']],
  ['negations', 'f = !a;', ['{}', 'f = a;']],
  ['branches', 'if (a) throw b;', ['if (true) throw b;', 'if (false) throw b;', 'if (a) {}']],
  ['choices', 'f = a ? b : c;', ['{}', 'f = true ? b : c;', 'f = false ? b : c;']],
  ['numbers', 'f = 7;', ['{}', 'f = 8;', 'f = 6;']],
  ['big numbers', 'f = 1_000n;', ['{}', 'f = 1001n;', 'f = 999n;']],
  ['texts', "f = 'a';", ['{}', "f = '';"]],
  ['empty texts', "f = '';", ['{}', "f = 'other';"]],
  ['the ends of patterns', 'f = /^a$/;', ['{}', 'f = /a$/;', 'f = /^a/;']],
  ['elements', 'f = [a, ...b];', ['{}', 'f = [...b];', 'f = [a];']],
  ['properties', 'f = {a, b};', ['{}', 'f = {b};', 'f = {a};']],
  [
    'questions to all of a list',
    'f = a.some((b) => c);',
    ['{}', 'f = a.every((b) => c);', 'f = a.some((b) => true);', 'f = a.some((b) => false);'],
  ],
  [
    'calls that can be left out',
    'f = a.filter((b) => c);',
    ['{}', 'f = a;', 'f = a.filter((b) => true);', 'f = a.filter((b) => false);'],
  ],
  [
    'what is returned',
    'function f(): boolean { return a; }',
    ['function f(): boolean { return true; }', 'function f(): boolean { return false; }'],
  ],
  [
    'what may be missing',
    'function f(): A | undefined { return a; }',
    ['function f(): A | undefined { return undefined; }'],
  ],
  ['lists that are returned', 'const f = (): A[] => a;', ['const f = (): A[] => [];']],
])('%s get faults', (_title, text, expected) => {
  expect(faulty(text).toSorted()).toEqual(expected.toSorted());
});

test('types and imports get none', () => {
  expect(faulty("import {a} from './a.js';\ntype A = 'b' | 1;\ninterface B { readonly c: 'd' }")).toEqual([]);
});

test('a fault tells its line', () => {
  expect(listMutants('\n\nf(a === b);').find(({from}) => from === '===')).toMatchObject({line: 3, to: '!=='});
});
