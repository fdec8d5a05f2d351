import {execFileSync} from 'node:child_process';
import {chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {writeArchive} from '../../../scripts/release/archive.mjs';
import {temporaryDirectory} from '../../base/temporary-directory.js';

test('equal files give equal archives, whatever their owners and times, and directories are unchanged', async () => {
  const folder = await temporaryDirectory();
  const made = ['first', 'second'].map((name) => join(folder, name));
  for (const [index, stage] of made.entries()) {
    const files = ['bin/kcri', 'share/b', 'share/a'];
    for (const file of index === 0 ? files : files.toReversed()) {
      mkdirSync(join(stage, file, '..'), {recursive: true});
      writeFileSync(join(stage, file), file);
      utimesSync(join(stage, file), index, index);
    }
    chmodSync(join(stage, 'bin/kcri'), 0o755);
    await writeArchive(stage, `${stage}.tar.gz`, 1_700_000_000);
  }
  const [first = '', second = ''] = made;
  expect(readFileSync(`${first}.tar.gz`).equals(readFileSync(`${second}.tar.gz`))).toBe(true);
  const list = execFileSync('tar', ['--utc', '-tvzf', `${first}.tar.gz`], {encoding: 'utf8'});
  expect(
    list
      .trim()
      .split('\n')
      .map((line) => line.replace(/ +/g, ' ')),
  ).toEqual([
    '-rwxr-xr-x 0/0 8 2023-11-14 22:13 bin/kcri',
    '-rw-r--r-- 0/0 7 2023-11-14 22:13 share/a',
    '-rw-r--r-- 0/0 7 2023-11-14 22:13 share/b',
  ]);
});
