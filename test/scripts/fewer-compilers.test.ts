import {access} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {OF_LISTS, withoutLastCompiler} from '../../scripts/binary/fewer-compilers.mjs';

test('functions and methods are kept from the last compiler, by an import beside the source', () => {
  const source = [
    'export function one<T>(value: T): T {',
    '  function inner() {}',
    'async function two() {',
    'export const three = () => 3;',
    'export class Four extends Base {',
    '  function: string;',
    'class Five {',
  ].join('\n');
  const [first, ...rest] = withoutLastCompiler(source).trimEnd().split('\n');
  expect(first).toBe("import {noFTL} from 'bun:jsc';");
  expect(rest.slice(0, 7).join('\n')).toBe(source);
  expect(rest.at(-1)).toBe('[one, two, ...methodsOf(Four), ...methodsOf(Five)].forEach(noFTL);');
});

test('what lists go through is there', async () => {
  for (const path of OF_LISTS) await expect(access(path)).resolves.toBeUndefined();
});
