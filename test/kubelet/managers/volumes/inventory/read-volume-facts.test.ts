import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {readVolumeFacts} from '../../../../../src/kubelet/managers/volumes/inventory/read-volume-facts.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';

const DATA = {driverName: 'csi.test', volumeHandle: 'h1', volumeLifecycleMode: 'Persistent'};

async function makeRoot(
  files: readonly string[],
  links: Readonly<Record<string, string>> = {},
): Promise<string> {
  const root = await temporaryDirectory();
  for (const file of files) {
    const path = join(root, file);
    await mkdir(file.endsWith('/') ? path : dirname(path), {recursive: true});
    if (!file.endsWith('/')) await writeFile(path, JSON.stringify(DATA));
  }
  for (const [path, target] of Object.entries(links)) {
    await mkdir(dirname(join(root, path)), {recursive: true});
    await symlink(target, join(root, path));
  }
  return root;
}

/** Returns a mounter with an ext4 file system at each of the paths below the root directory. */
function mountedAt(root: string, ...paths: readonly string[]) {
  const common = {root: '/', parentId: 1, device: '8:1', fileSystem: 'ext4', source: '/dev/sda1'};
  const list = paths.map((path, id) => ({
    ...{...common, id, path: join(root, path), isSlave: false, isShared: false},
  }));
  return {list: async () => list};
}

test('the directories of a kubelet are read as it makes them', async () => {
  const staged = 'plugins/kubernetes.io/csi/csi.test/0123';
  const block = 'plugins/kubernetes.io/csi/volumeDevices/pvb';
  const root = await makeRoot(
    [
      'pods/u1/volumes/kubernetes.io~empty-dir/cache/',
      'pods/u1/volumes/kubernetes.io~csi/pv1/vol_data.json',
      'pods/u1/volumes/kubernetes.io~csi/pv1/mount/',
      'pods/u1/volumes/kubernetes.io~secret/half/',
      `${staged}/vol_data.json`,
      `${staged}/globalmount/`,
      `${block}/data/vol_data.json`,
      'claims/default/db/',
    ],
    {
      'pods/u1/volumes/kubernetes.io~secret/whole/..data': '..2026',
      'pods/u1/volumeDevices/kubernetes.io~csi/pvb': '/dev/nowhere',
    },
  );
  const local = 'plugins/kubernetes.io/local-volume/mounts/disk';
  const facts = await readVolumeFacts(root, {mounter: mountedAt(root, local, `${block}/dev/u1`)});
  expect(facts).toMatchObject({uids: ['u1'], claims: ['default/db'], isOfKcri: false, problems: []});
  expect(facts?.pods).toMatchObject([
    {plugin: 'kubernetes.io/csi', name: 'pv1', isComplete: true, data: DATA},
    {plugin: 'kubernetes.io/empty-dir', name: 'cache', isComplete: true},
    {plugin: 'kubernetes.io/secret', name: 'half', isComplete: false},
    {plugin: 'kubernetes.io/secret', name: 'whole', isComplete: true},
    {plugin: 'kubernetes.io/csi', name: 'pvb', isBlock: true, isComplete: true, data: DATA},
  ]);
  expect(facts?.staged).toMatchObject([
    {path: join(root, staged, 'globalmount'), data: DATA},
    {name: 'pvb', data: DATA},
    {plugin: 'kubernetes.io/local-volume', name: 'disk', path: join(root, local)},
  ]);
});

test('each of several disks of a pod has its own map', async () => {
  const devices = 'pods/u1/volumeDevices/kubernetes.io~iscsi';
  const maps = 'plugins/kubernetes.io/iscsi/volumeDevices/iface-default';
  const byPath = join(await makeRoot([], {'by-path': '/dev/zero'}), 'by-path');
  const root = await makeRoot([], {
    [`${devices}/kcri`]: '/dev/null',
    [`${devices}/kubelet`]: byPath,
    [`${devices}/pending`]: '/dev/full',
    [`${devices}/removed`]: '/dev/sd-removed',
  });
  const roots = {lun0: '/zero', lun1: '/sd-removed//deleted', lun2: '/null'};
  const {list} = mountedAt(root, ...Object.keys(roots).map((lun) => `${maps}/${lun}/u1`));
  const mounts = (await list()).map((mount, index) => ({...mount, root: Object.values(roots)[index] ?? ''}));
  const facts = await readVolumeFacts(root, {mounter: {list: async () => mounts}});
  expect(facts?.pods.map(({name, mount}) => [name, mount?.path])).toEqual([
    ['kcri', join(root, maps, 'lun2/u1')],
    ['kubelet', join(root, maps, 'lun0/u1')],
    ['pending', undefined],
    ['removed', join(root, maps, 'lun1/u1')],
  ]);
});

test('no link is followed, and a damaged identity is a fact', async () => {
  const elsewhere = await makeRoot(['volumes/kubernetes.io~empty-dir/a/', 'vol_data.json']);
  const root = await makeRoot(['pods/u3/volumes/kubernetes.io~csi/pv/'], {
    'pods/u1': elsewhere,
    'pods/u2/volumes': join(elsewhere, 'volumes'),
    'pods/u3/volumes/kubernetes.io~csi/pv/vol_data.json': join(elsewhere, 'vol_data.json'),
    'pods/u3/volumes/kubernetes.io~csi/pv/mount': elsewhere,
  });
  const facts = await readVolumeFacts(root, {mounter: mountedAt(root)});
  expect(facts?.uids).toEqual(['u2', 'u3']);
  expect(facts?.problems).toEqual([expect.stringMatching(/u2\/volumes": not a directory$/)]);
  expect(facts?.pods).toMatchObject([
    {uid: 'u3', isComplete: false, damage: expect.stringMatching(/is not a file$/) as string},
  ]);
});

test('a directory that cannot be read is a problem, and the others are read', async () => {
  const root = await makeRoot(['pods/u1/volumes/kubernetes.io~empty-dir/a/', 'pods/u2/volumes']);
  const facts = await readVolumeFacts(root, {mounter: mountedAt(root)});
  expect(facts?.pods).toMatchObject([{uid: 'u1', name: 'a'}]);
  expect(facts?.problems).toEqual([expect.stringMatching(/u2\/volumes": not a directory$/)]);
  expect(await readVolumeFacts(join(root, 'missing'), {mounter: mountedAt(root)})).toBeUndefined();
});

test('the volumes are in the order of the pods, and only those of pods that are asked for are read', async () => {
  const names = Array.from({length: 20}, (_, index) => `u${String(index).padStart(2, '0')}`);
  // The later ones have less to read.
  const root = await makeRoot(
    names.flatMap((uid, index) =>
      Array.from(
        {length: index < 4 ? 30 : 1},
        (_, at) => `pods/${uid}/volumes/kubernetes.io~csi/v${at}/mount/`,
      ),
    ),
  );
  const all = await readVolumeFacts(root, {mounter: mountedAt(root)});
  expect([...new Set(all?.pods.map(({uid}) => uid))]).toEqual(names);
  const some = await readVolumeFacts(root, {mounter: mountedAt(root), uids: new Set(['u07', 'none'])});
  expect(some?.pods).toMatchObject([{uid: 'u07'}]);
  expect(some?.uids.toSorted()).toEqual(names);
});
