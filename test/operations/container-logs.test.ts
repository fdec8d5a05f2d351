import {mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {removeLogs} from '../../src/operations/container-logs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kcri-container-logs-'));
});
afterEach(() => {
  rmSync(folder, {recursive: true});
});

test('a file that is gone when its turn comes leaves the others to be looked at', async () => {
  for (const rotation of ['', '.20261120-140000', '.20261120-140001'])
    writeFileSync(join(folder, `0.log${rotation}`), '');
  const files = readdirSync(folder);
  const kept: string[] = [];
  const inAnHour = BigInt(Date.now() + 3_600_000) * 1_000_000n;
  await removeLogs({shown: 'c', logPath: join(folder, '0.log'), createdAt: inAnHour}, (file) => {
    kept.push(basename(file));
    rmSync(join(folder, files[1] ?? ''), {force: true});
  });
  expect(kept).toEqual([files[0], files[2]]);
});
