import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {neededGlibc, packageVersion} from '../../../../scripts/release/distribution/identity.mjs';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

test.each([
  ['1.2.3', '1.2.3'],
  ['1.2.3-rc.1', '1.2.3~rc.1'],
  ['1.2.3-rc-1.2+build.5', '1.2.3~rc.1.2+build.5'],
])('the version %s is %s in packages', (version, expected) => {
  expect(packageVersion(version)).toBe(expected);
});

test('versions before a release sort before it, and in their order', () => {
  const versions = [
    '0.9.0',
    '1.0.0-alpha.1',
    '1.0.0-beta',
    '1.0.0-rc.2',
    '1.0.0-rc.10',
    '1.0.0',
    '1.0.1-rc.1',
  ];
  const packaged = versions.map(packageVersion);
  for (const [index, version] of packaged.slice(1).entries())
    execFileSync('dpkg', ['--compare-versions', packaged[index]!, 'lt', version]);
});

test('an executable needs the newest version of glibc that it names', async () => {
  const file = join(await temporaryDirectory(), 'program');
  writeFileSync(file, 'ELF\0GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_2.4\0xGLIBC_2.99');
  expect(await neededGlibc(file)).toBe('2.17');
  writeFileSync(file, 'static');
  await expect(neededGlibc(file)).rejects.toThrow('does not say which version of glibc it needs');
});
