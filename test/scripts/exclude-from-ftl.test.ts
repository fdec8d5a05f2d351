import {access} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {LIST_MODULES, withoutFtl} from '../../scripts/binary/exclude-from-ftl.mjs';

test('functions and methods are excluded from FTL, with an additional import', () => {
  const source = [
    'export function one<T>(value: T): T {',
    '  function inner() {}',
    'async function two() {',
    'export const three = () => 3;',
    'export class Four extends Base {',
    '  function: string;',
    'class Five {',
  ].join('\n');
  const [first, ...rest] = withoutFtl(source).trimEnd().split('\n');
  expect(first).toBe("import {noFTL} from 'bun:jsc';");
  expect(rest.slice(0, 7).join('\n')).toBe(source);
  expect(rest.at(-1)).toBe('[one, two, ...methodsOf(Four), ...methodsOf(Five)].forEach(noFTL);');
});

test('all list modules exist', async () => {
  for (const path of LIST_MODULES) await expect(access(path)).resolves.toBeUndefined();
});
