import {readdirSync, rmSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {beforeEach, expect, test} from 'vitest';
import {removeLogFiles} from '../../../src/operations/logs/remove-log-files.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let directory: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
});

test('a file removed meanwhile does not affect the others', async () => {
  for (const rotation of ['', '.20261120-140000', '.20261120-140001'])
    writeFileSync(join(directory, `0.log${rotation}`), '');
  const files = readdirSync(directory);
  const kept: string[] = [];
  const inAnHour = BigInt(Date.now() + 3_600_000) * 1_000_000n;
  await removeLogFiles({shown: 'c', logPath: join(directory, '0.log'), createdAt: inAnHour}, (file) => {
    kept.push(basename(file));
    rmSync(join(directory, files[1] ?? ''), {force: true});
  });
  expect(kept).toEqual([files[0], files[2]]);
});
