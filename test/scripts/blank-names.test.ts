import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, expect, test} from 'vitest';
import {blankNames} from '../../scripts/binary/blank-names.mjs';
import {temporaryDirectory} from '../base/temporary-directory.js';

let file: string;
beforeEach(async () => {
  const folder = await temporaryDirectory();
  file = join(folder, 'program');
  await writeFile(file, 'a BUN_OPTIONS\0BUN_OPTIONSBUN_INSPECT_PRELOAD z');
});

test('overwrites each occurrence of a name, and nothing else', async () => {
  await blankNames(file, ['BUN_OPTIONS', 'BUN_INSPECT']);
  const zeros = '\0'.repeat(11);
  expect(await readFile(file, 'latin1')).toBe(`a ${zeros}\0${zeros}${zeros}_PRELOAD z`);
});

test('rejects a file without one of the names, and leaves it as it is', async () => {
  await expect(blankNames(file, ['BUN_OPTIONS', 'BUN_BE_BUN'])).rejects.toThrow(
    'does not contain "BUN_BE_BUN"',
  );
  expect(await readFile(file, 'latin1')).toContain('BUN_OPTIONS');
});
