import {execFileSync} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {compareLayers, openLayer, type FileChange} from '../../../src/operations/files/compare-layers.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

interface Layers {
  readonly upper: readonly string[];
  readonly image: readonly string[];
  readonly merged: readonly string[];
  readonly mountPoints?: readonly string[];
}

/** Creates directories, whose names end with a slash, files and whiteouts, whose names begin with an exclamation mark. */
async function fill(root: string, paths: readonly string[]): Promise<string> {
  await mkdir(root);
  for (const path of paths)
    if (path.endsWith('/')) await mkdir(join(root, path), {recursive: true});
    else if (path.startsWith('!')) execFileSync('mknod', [join(root, path.slice(1)), 'c', '0', '0']);
    else if (path.endsWith('@')) await symlink('/', join(root, path));
    else await writeFile(join(root, path), '');
  return root;
}

async function compare({mountPoints = [], ...layers}: Layers): Promise<readonly string[]> {
  const directory = await temporaryDirectory();
  const open = async (name: 'upper' | 'image' | 'merged') =>
    await openLayer(await fill(join(directory, name), layers[name]));
  await using upper = await open('upper');
  await using image = await open('image');
  await using merged = await open('merged');
  const {signal} = new AbortController();
  const changes: readonly FileChange[] = await compareLayers({upper, image, merged, mountPoints, signal});
  return changes.map(({change, path}) => `${change} ${path}`);
}

const isRoot = process.geteuid?.() === 0;

test('files of the upper layer are changed if the image has them, and added otherwise', async () => {
  const image = ['etc/', 'etc/hosts', 'etc/passwd', 'bin/'];
  const upper = ['etc/', 'etc/passwd', 'etc/new', 'opt/', 'opt/x/', 'opt/x/y'];
  expect(await compare({upper, image, merged: [...image, ...upper]})).toEqual([
    'C /etc',
    'A /etc/new',
    'C /etc/passwd',
    'A /opt',
    'A /opt/x',
    'A /opt/x/y',
  ]);
});

test.runIf(isRoot)('whiteouts are deleted files, unless the image lacks them', async () => {
  const image = ['etc/', 'etc/hosts', 'gone/', 'gone/file'];
  expect(
    await compare({upper: ['etc/', '!etc/hosts', '!etc/never', '!gone'], image, merged: ['etc/']}),
  ).toEqual(['C /etc', 'D /etc/hosts', 'D /gone']);
});

test('what an opaque directory hides is deleted', async () => {
  const image = ['www/', 'www/a', 'www/b', 'www/own', 'other/', 'other/a'];
  const upper = ['www/', 'www/own', 'other/', 'other/b'];
  const merged = ['www/', 'www/own', 'other/', 'other/a', 'other/b'];
  expect(await compare({upper, image, merged})).toEqual([
    'C /other',
    'A /other/b',
    'C /www',
    'D /www/a',
    'D /www/b',
    'C /www/own',
  ]);
});

test('mount points of volumes and the directories created for them are left out', async () => {
  const image = ['etc/'];
  const upper = [
    'etc/',
    'etc/hosts',
    'proc/',
    'var/',
    'var/run/',
    'var/run/secrets/',
    'var/log/',
    'data/',
    'data/x',
  ];
  const mountPoints = ['/etc/hosts', '/proc', '/var/run/secrets'];
  expect(await compare({upper, image, merged: upper, mountPoints})).toEqual([
    'A /data',
    'A /data/x',
    'A /var',
    'A /var/log',
  ]);
});

test('a file in place of a directory hides the content of the directory, and links are not followed', async () => {
  const image = ['dir/', 'dir/x'];
  expect(await compare({upper: ['dir', 'link@'], image, merged: ['dir', 'link@']})).toEqual([
    'C /dir',
    'A /link@',
  ]);
});
