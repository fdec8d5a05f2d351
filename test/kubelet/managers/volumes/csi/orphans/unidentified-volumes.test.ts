import {mkdir, readdir, stat, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../../../../src/base/clock.js';
import {removeUnidentified} from '../../../../../../src/kubelet/managers/volumes/csi/orphans/unidentified-volumes.js';
import {startCsi} from '../../../../../../src/kubelet/managers/volumes/csi/start-csi.js';
import {
  readVolumeData,
  writeVolumeData,
} from '../../../../../../src/kubelet/managers/volumes/csi/volume-data.js';
import {fakeLogger} from '../../../../../base/fake-logger.js';
import {temporaryDirectory} from '../../../../../base/temporary-directory.js';
import {fakeManagerServices} from '../../../../../fakes/fake-manager-services.js';
import {GOLDEN_NODE} from '../../../../../golden/golden-cases.js';

const STAGED = 'plugins/kubernetes.io/csi';
const BLOCKS = `${STAGED}/volumeDevices`;
/** Temporary file of a process that does not exist. */
const HALF = '.kcri-4194303@1@5bb3fbf8-1187-4fa0-a6aa-8233125f9a82.0123456789ab0001.tmp';

/** Creates files, and directories whose names end with a slash, and returns what a start leaves of them. */
async function leftOf(paths: readonly string[]): Promise<readonly string[]> {
  const rootDir = await temporaryDirectory();
  for (const path of paths) {
    await mkdir(join(rootDir, path.endsWith('/') ? path : dirname(path)), {recursive: true});
    if (!path.endsWith('/')) await writeFile(join(rootDir, path), '');
  }
  await removeUnidentified({rootDir}, (error) => {
    throw error;
  });
  const entries = await readdir(rootDir, {recursive: true, withFileTypes: true});
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(rootDir.length + 1))
    .concat(
      entries.filter((entry) => entry.name === 'globalmount' || entry.name === 'pv').map(({name}) => name),
    )
    .toSorted();
}

test.each([
  ['before the identity was written', [`${STAGED}/d/h/globalmount/`]],
  ['while it was written', [`${STAGED}/d/h/globalmount/`, `${STAGED}/d/h/${HALF}`]],
  ['after it was removed', [`${STAGED}/d/h/`]],
  ['before that of a block volume was written', [`${BLOCKS}/pv/data/`]],
  ['while that of a block volume was written', [`${BLOCKS}/pv/data/${HALF}`]],
  ['while a block volume was removed', [`${BLOCKS}/pv/data/`, `${BLOCKS}/pv/dev/`]],
])('what a process has left that was killed %s is removed', async (_when, paths) => {
  expect(await leftOf(paths)).toEqual([]);
});

test.each([
  ['a volume with an identity', [`${STAGED}/d/h/vol_data.json`, `${STAGED}/d/h/other`]],
  ['files of a driver', [`${STAGED}/d/h/globalmount/file`]],
  ['a device of a pod', [`${BLOCKS}/pv/dev/u1`]],
  ['a block volume that is staged', [`${BLOCKS}/staging/pv/`]],
])('%s stays', async (_what, paths) => {
  expect(await leftOf(paths)).not.toEqual([]);
});

test('a directory that cannot be removed is reported, and does not stop CSI or keep others', async () => {
  const rootDir = await temporaryDirectory();
  const csi = join(rootDir, STAGED);
  await mkdir(join(csi, 'd/a'), {recursive: true});
  await writeFile(join(csi, 'd/a/globalmount'), '');
  await mkdir(join(csi, 'd/b/globalmount'), {recursive: true});
  const errors: string[] = [];
  const logger = fakeLogger({info: () => undefined, error: (_error, message) => errors.push(message)});
  const end = new AbortController();
  await startCsi(
    fakeManagerServices({node: {...GOLDEN_NODE, rootDir}, clock: systemClock, logger}),
    end.signal,
  );
  end.abort();
  expect(await readdir(join(csi, 'd'))).toEqual(['a']);
  expect(errors).toEqual(['Failed to remove the directory of a CSI volume without an identity']);
});

test('the identity of a volume replaces a damaged one as a whole, without a temporary file', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'vol_data.json'), '{');
  await expect(readVolumeData(directory)).rejects.toThrow('cannot read the CSI volume of');
  await writeVolumeData(directory, {driverName: 'd', volumeHandle: 'h'});
  expect(await readVolumeData(directory)).toMatchObject({driverName: 'd', volumeHandle: 'h'});
  expect(await readdir(directory)).toEqual(['vol_data.json']);
});

test('an identity is written only if it differs', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'vol_data.json');
  const write = async (volumeHandle: string): Promise<number> => {
    await writeVolumeData(directory, {driverName: 'd', volumeHandle});
    return (await stat(path)).ino;
  };
  const first = await write('h');
  expect(await write('h')).toBe(first);
  expect(await write('other')).not.toBe(first);
});
