import {execFileSync} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const open = async (mounts?: string): Promise<LocalFileReader> =>
  await LocalFileReader.open(new AbortController().signal, mounts);

test('files on a network file system are not read, through symbolic links either', async () => {
  const directory = await temporaryDirectory();
  const remote = join(directory, 'remote');
  await mkdir(remote);
  await writeFile(join(remote, 'file'), 'text');
  await symlink('remote', join(directory, 'link'));
  await symlink(join(directory, 'link/file'), join(directory, 'deep'));
  const mounts = join(directory, 'mountinfo');
  await writeFile(
    mounts,
    `1 0 8:1 / / rw - ext4 /dev/vda rw\n2 1 0:9 / ${remote} ro,relatime - nfs4 server:/export rw\n`,
  );
  const reader = await open(mounts);
  const error = `it was not read: it is on ${remote} (nfs4 of server:/export), which may hang`;
  for (const name of ['remote/file', 'link/file', 'deep']) {
    const path = join(directory, name);
    const answers = [reader.text(path), reader.names(path), reader.file(path), reader.space(path)];
    expect(await Promise.all(answers)).toEqual(Array(4).fill({error: `${path}: ${error}`}));
  }
  await writeFile(join(directory, 'here'), 'text');
  expect(await reader.text(join(directory, 'here'))).toEqual({value: 'text'});
  expect(reader.mounts).toMatchObject({value: [{isReadOnly: false}, {isReadOnly: true, fileSystem: 'nfs4'}]});
});

test('a path is on the mount that its links lead to', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'data/kubelet'), {recursive: true});
  await symlink('data/kubelet', join(directory, 'link'));
  const mounts = join(directory, 'mountinfo');
  await writeFile(
    mounts,
    `1 0 8:1 / / rw - ext4 /dev/vda rw\n2 1 8:2 / ${directory}/data rw - ext4 /dev/vdb rw\n`,
  );
  const reader = await open(mounts);
  expect(await reader.mount(join(directory, 'link'))).toMatchObject({
    value: {device: '8:2', source: '/dev/vdb'},
  });
  expect(await reader.mount(directory)).toMatchObject({value: {device: '8:1'}});
  expect(await (await open(join(directory, 'missing'))).mount('/')).toMatchObject({
    error: '/: it is on no known mount',
  });
});

test('a FIFO and what is missing are reasons, not waits', async () => {
  const directory = await temporaryDirectory();
  const fifo = join(directory, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const reader = await open();
  expect(await reader.text(fifo)).toEqual({error: `${fifo}: it is not a regular file`});
  const nowhere = join(directory, 'nowhere');
  expect(await reader.text(nowhere)).toEqual({
    error: `${nowhere}: no such file or directory`,
    isMissing: true,
  });
  expect(await reader.file(fifo)).toMatchObject({value: {kind: 'other'}});
});

test('a read that does not end in time is a reason', async () => {
  const end = new AbortController();
  const reader = await LocalFileReader.open(end.signal);
  const reading = reader.fact(async () => await new Promise<never>(() => undefined), 'Status');
  end.abort(Object.assign(new Error('no answer within 2s'), {code: 'TIMEOUT'}));
  expect(await reading).toEqual({error: 'Status: no answer within 2s'});
});
