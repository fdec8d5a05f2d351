import {mkdir, readFile, readdir, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {createCopyTestbed, type CopyTestbed} from './copy-testbed.js';

/** Creates a secret of the host, and a file in the container, which has the path of the secret. */
async function plantSecret({host, root}: CopyTestbed): Promise<string> {
  const secret = join(host, 'secret');
  await writeFile(secret, 'secret of the host');
  await mkdir(join(root, host), {recursive: true});
  await writeFile(join(root, secret), 'of the container');
  return secret;
}

test('links in the path of the source lead only into the container', async () => {
  const testbed = await createCopyTestbed();
  const {root, host, copy, inside, outside} = testbed;
  const secret = await plantSecret(testbed);
  await symlink(secret, join(root, 'absolute'));
  await symlink(`${'../'.repeat(20)}${secret.slice(1)}`, join(root, 'dots'));
  await symlink(host, join(root, 'directory'));
  for (const path of ['absolute', 'dots', 'directory/secret', `../../..${secret}`]) {
    await copy(inside(path), outside('copy'), {followsLink: true});
    expect(await readFile(join(host, 'copy'), 'utf8')).toBe('of the container');
  }
});

test('links of /proc lead nowhere', async () => {
  const testbed = await createCopyTestbed();
  const {root, host, copy, inside, outside} = testbed;
  const secret = await plantSecret(testbed);
  await symlink('/proc/self/root', join(root, 'root'));
  await expect(copy(inside(`root${secret}`), outside('copy'))).rejects.toThrow('no such file or directory');
  await expect(copy(outside('secret'), inside('root/tmp/x'))).rejects.toThrow('does not exist');
  // As in a container whose /proc shows the processes of the host.
  const {openLocalView} = await import('../../../src/operations/files/file-system-view.js');
  await using view = await openLocalView();
  await copy({kind: 'path', view, path: `/proc/self/root${host}/secret`}, outside('copy'));
  expect(await readFile(join(host, 'copy'), 'utf8')).toBe('secret of the host');
  await expect(
    copy({kind: 'path', view, path: '/proc/self/fd/0'}, outside('copy'), {followsLink: true}),
  ).rejects.toThrow();
});

test('links loop no further than in the kernel', async () => {
  const {root, copy, inside, outside} = await createCopyTestbed();
  await symlink('b', join(root, 'a'));
  await symlink('a', join(root, 'b'));
  await expect(copy(inside('a'), outside('copy'), {followsLink: true})).rejects.toThrow('too many links');
});

test('links in a tree are copied as links, and those of the destination are not followed', async () => {
  const testbed = await createCopyTestbed();
  const {root, host, copy, inside, outside} = testbed;
  await mkdir(join(root, 'dir/sub'), {recursive: true});
  await writeFile(join(root, 'dir/sub/file'), 'new');
  await mkdir(join(host, 'other'));
  await mkdir(join(host, 'dir'));
  await symlink(join(host, 'other'), join(host, 'dir/sub'));
  await expect(copy(inside('dir'), outside(''))).rejects.toThrow('which is not a directory');
  expect(await readdir(join(host, 'other'))).toEqual([]);
});

test('a container that swaps a directory for a link during the copy gets no file of the host copied', async () => {
  const testbed = await createCopyTestbed();
  const {root, host, copy, inside, outside} = testbed;
  await mkdir(join(host, 'data'));
  await writeFile(join(host, 'data/file'), 'secret of the host');
  for (let index = 0; index < 20; index += 1) {
    await mkdir(join(root, `tree/${index}/data`), {recursive: true});
    await writeFile(join(root, `tree/${index}/data/file`), 'of the container');
  }
  let isOver = false;
  const swap = async (): Promise<void> => {
    while (!isOver)
      for (let index = 0; index < 20; index += 1) {
        const data = join(root, `tree/${index}/data`);
        await rename(data, `${data}-real`);
        await symlink(join(host, 'data'), data);
        await rm(data);
        await rename(`${data}-real`, data);
      }
  };
  const swapping = swap();
  try {
    for (let round = 0; round < 30; round += 1) {
      await copy(inside('tree'), outside(`copy-${round}`)).catch(() => undefined);
      const names = await readdir(join(host, `copy-${round}`), {recursive: true, withFileTypes: true});
      for (const entry of names.filter((each) => each.isFile()))
        expect(await readFile(join(entry.parentPath, entry.name), 'utf8')).toBe('of the container');
    }
  } finally {
    isOver = true;
    await swapping;
  }
});

test('a container that swaps a directory for a link during the copy gets nothing written outside of it', async () => {
  const testbed = await createCopyTestbed();
  const {root, host, copy, inside, outside} = testbed;
  await mkdir(join(host, 'target'));
  for (let index = 0; index < 20; index += 1) {
    await mkdir(join(host, `tree/${index}`), {recursive: true});
    await writeFile(join(host, `tree/${index}/file`), 'x');
  }
  let isOver = false;
  const swap = async (): Promise<void> => {
    while (!isOver)
      for (let index = 0; index < 20; index += 1) {
        const directory = join(root, `tree/${index}`);
        await rm(directory, {recursive: true, force: true}).catch(() => undefined);
        await symlink(join(host, 'target'), directory).catch(() => undefined);
        await rm(directory, {force: true, recursive: true}).catch(() => undefined);
      }
  };
  const swapping = swap();
  try {
    for (let round = 0; round < 30; round += 1) {
      await mkdir(join(root, 'tree'), {recursive: true});
      await copy(outside('tree/.'), inside('/tree')).catch(() => undefined);
    }
  } finally {
    isOver = true;
    await swapping;
  }
  expect(await readdir(join(host, 'target'))).toEqual([]);
});
