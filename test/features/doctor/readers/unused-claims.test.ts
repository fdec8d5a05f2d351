import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {
  readReleasedVolumes,
  readUnusedClaims,
} from '../../../../src/features/doctor/readers/unused-claims.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

/** Returns a root directory with files, each with its JSON. */
async function aRootDir(files: Readonly<Record<string, unknown>>): Promise<string> {
  const rootDir = await temporaryDirectory();
  for (const [path, value] of Object.entries(files)) {
    await mkdir(dirname(join(rootDir, path)), {recursive: true});
    await writeFile(join(rootDir, path), typeof value === 'string' ? value : JSON.stringify(value));
  }
  return rootDir;
}

const reader = async (): Promise<LocalFileReader> => LocalFileReader.open(new AbortController().signal);
const record = (claimName: string, fields: object = {}) => ({
  pod: {
    metadata: {namespace: 'default', name: 'web'},
    spec: {
      volumes: [
        {name: 'a', emptyDir: {}},
        {name: 'v', persistentVolumeClaim: {claimName}},
      ],
    },
  },
  ...fields,
});
const volume = (claim: string, fields: object = {}) => ({
  ...{claim, manager: 'sync', state: 'Bound', request: {driver: 'disk.example.com'}},
  ...fields,
});

test('claims with a directory or a volume of a driver are unused if no pod has them', async () => {
  const rootDir = await aRootDir({
    'claims/default/used/file': '',
    'claims/default/left/file': '',
    'claims/test/used/file': '',
    'kcri/records/u1.json': record('used'),
    'kcri/records/u2.json': record('left', {removedAt: '2026-11-27T10:00:00.000Z'}),
    'kcri/volumes/pvc-1.json': volume('default/used'),
    'kcri/volumes/pvc-2.json': volume('default/created'),
    'kcri/volumes/pvc-3.json': volume('default/of-kubelet', {manager: 'kubelet'}),
    'kcri/volumes/pvc-4.json': volume('default/retained', {state: 'Released'}),
    'kcri/volumes/pvc-5.json': volume('default/of-pod', {ownerUid: 'u3'}),
  });
  expect(await readUnusedClaims(rootDir, await reader())).toEqual({
    value: [
      {claim: 'default/left', path: join(rootDir, 'claims/default/left')},
      {claim: 'test/used', path: join(rootDir, 'claims/test/used')},
      {claim: 'default/created', driver: 'disk.example.com'},
    ],
  });
});

test('unused claims are not known if a record is damaged, and there are none without a root directory', async () => {
  const rootDir = await aRootDir({'claims/default/left/file': '', 'kcri/records/u1.json': '{'});
  const path = join(rootDir, 'kcri/records/u1.json');
  expect(await readUnusedClaims(rootDir, await reader())).toEqual({error: `${path} is not valid JSON`});
  expect(await readUnusedClaims(join(rootDir, 'none'), await reader())).toEqual({value: []});
});

test('volumes that were retained after their claims are found, whoever has had them created', async () => {
  const retained = {state: 'Released', volume: {spec: {csi: {volumeHandle: 'vol-7'}}}};
  const rootDir = await aRootDir({
    'kcri/volumes/pvc-1.json': volume('default/used', {name: 'pvc-1'}),
    'kcri/volumes/pvc-2.json': volume('default/gone', {name: 'pvc-2', ...retained}),
    'kcri/volumes/pvc-3.json': volume('test/gone', {name: 'pvc-3', ...retained, manager: 'kubelet'}),
  });
  const more = {driver: 'disk.example.com', handle: 'vol-7'};
  expect(await readReleasedVolumes(rootDir, await reader())).toEqual({
    value: [
      {name: 'pvc-2', claim: 'default/gone', ...more},
      {name: 'pvc-3', claim: 'test/gone', ...more},
    ],
  });
  await writeFile(join(rootDir, 'kcri/volumes/pvc-4.json'), '{');
  expect(await readReleasedVolumes(rootDir, await reader())).toMatchObject({
    error: expect.stringContaining('is not valid JSON') as string,
  });
});
