import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {MountShell} from './mount-shell.js';

test('programs run in order, with their arguments', async () => {
  const directory = await temporaryDirectory();
  using shell = new MountShell();
  const path = join(directory, "a 'b");
  await Promise.all([shell.run('mkdir', path), shell.run('touch', join(path, 'c'))]);
  expect(existsSync(join(path, 'c'))).toBe(true);
});

test('a program that fails is reported, and the next one runs', async () => {
  using shell = new MountShell();
  const failed = shell.run('false', 'x');
  const next = shell.run('true');
  await expect(failed).rejects.toThrow('false x failed with 1');
  await next;
});
