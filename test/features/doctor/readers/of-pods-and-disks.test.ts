import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {NodeSnapshot} from '../../../../src/features/doctor/node-snapshot.js';
import {
  extendDiskHistory,
  parseDiskHistory,
  readDiskHistory,
  recordDisks,
} from '../../../../src/features/doctor/readers/disk-history.js';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {readPodTokens, tokenExpiry} from '../../../../src/features/doctor/readers/pod-tokens.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {GOOD_NODE} from '../a-node.js';

const open = async (): Promise<LocalFileReader> => await LocalFileReader.open(new AbortController().signal);

/** Returns a token as the API server makes it; its signature is not looked at. */
function aToken(payload: object): string {
  const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');
  return [part({alg: 'RS256'}), part(payload), 'signature'].join('.');
}

describe('tokens of pods', () => {
  test('the end of a token is read through the links of its volume, and nothing else is kept', async () => {
    const rootDir = await temporaryDirectory();
    const volume = join(rootDir, 'pods/u1/volumes/kubernetes.io~projected/kube-api-access-x');
    await mkdir(join(volume, '..data-1'), {recursive: true});
    await writeFile(join(volume, '..data-1/token'), `${aToken({exp: 1_795_000_000, sub: 'secret'})}\n`);
    await symlink('..data-1/token', join(volume, 'token'));
    await mkdir(join(rootDir, 'pods/u2'));
    expect(await readPodTokens(rootDir, await open())).toEqual({
      value: [{uid: 'u1', path: join(volume, 'token'), expiresAt: '2026-11-18T11:06:40.000Z'}],
    });
  });

  test('without directories of pods there are none', async () => {
    expect(await readPodTokens('/nonexistent', await open())).toEqual({value: []});
  });

  test.each([
    ['no token', ''],
    ['another text', 'a.b.c'],
    ['a token without an end', aToken({sub: 'x'})],
    ['an end that is no time', aToken({exp: 1e300})],
  ])('%s has no end', (_, text) => {
    expect(tokenExpiry(text)).toBeUndefined();
  });
});

describe('space of disks at earlier runs', () => {
  const at = (time: string, history: NodeSnapshot['diskHistory']): NodeSnapshot => ({
    ...GOOD_NODE,
    takenAt: `2026-11-27T${time}.000Z`,
    diskHistory: history,
  });

  test('a sample is added once an hour, and the oldest are dropped', () => {
    const samples = Array.from({length: 100}, () => ({at: '2026-11-27T10:00:00.000Z', availableBytes: 1}));
    const value = {'/': samples, '/other': []};
    const later = extendDiskHistory(at('11:00:00', {value}));
    expect(later['/']).toHaveLength(100);
    expect(later['/']?.at(-1)).toEqual({at: '2026-11-27T11:00:00.000Z', availableBytes: 5e10});
    expect(later['/other']).toEqual([]);
    expect(extendDiskHistory(at('10:59:59', {value}))).toEqual(value);
  });

  test.each(['', '[]', '{"/": 1}', '{"/": [{"at": "x", "availableBytes": 1}, null]}'])(
    'a broken file %j has none',
    (text) => {
      expect(Object.values(parseDiskHistory(text)).flat()).toEqual([]);
    },
  );

  test('it is kept in the state directory, if there is one', async () => {
    const rootDir = await temporaryDirectory();
    const node = await open();
    const missing = await readDiskHistory(rootDir, node, false);
    expect(missing).toEqual({error: 'no earlier run is recorded', isMissing: true});
    await recordDisks(rootDir, at('12:00:00', missing));
    expect(await readDiskHistory(rootDir, node, false)).toEqual(missing);
    await mkdir(join(rootDir, 'kcri'));
    await recordDisks(rootDir, at('12:00:00', missing));
    const samples = {'/': [{at: '2026-11-27T12:00:00.000Z', availableBytes: 5e10}]};
    expect(JSON.parse(await readFile(join(rootDir, 'kcri/doctor-disks.json'), 'utf8'))).toEqual(samples);
    expect(await readDiskHistory(rootDir, node, false)).toEqual({value: samples});
  });
});
