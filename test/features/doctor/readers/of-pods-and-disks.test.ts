import {setMaxListeners} from 'node:events';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {readPodTokens, tokenExpiry} from '../../../../src/features/doctor/readers/pod-tokens.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

async function open(): Promise<LocalFileReader> {
  const {signal} = new AbortController();
  setMaxListeners(0, signal); // as in collectSnapshot
  return await LocalFileReader.open(signal);
}

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
    const otherDir = await temporaryDirectory();
    const other = join(otherDir, 'pods/u3/volumes/kubernetes.io~projected/x/token');
    await mkdir(dirname(other), {recursive: true});
    await writeFile(other, aToken({exp: 1_795_000_000}));
    const expiresAt = '2026-11-18T11:06:40.000Z';
    expect(await readPodTokens([rootDir, otherDir, '/nonexistent'], await open())).toEqual({
      value: {
        tokens: [
          {uid: 'u1', path: join(volume, 'token'), expiresAt},
          {uid: 'u3', path: other, expiresAt},
        ].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
        podsLeftOut: 0,
      },
    });
  });

  test('without directories of pods there are none', async () => {
    expect(await readPodTokens(['/nonexistent'], await open())).toEqual({
      value: {tokens: [], podsLeftOut: 0},
    });
  });

  test('pods beyond a thousand, and those that cannot be read, are counted', async () => {
    const rootDir = await temporaryDirectory();
    const broken = join(rootDir, 'pods/broken/volumes');
    await mkdir(broken, {recursive: true});
    await writeFile(join(broken, 'kubernetes.io~projected'), '');
    for (let index = 0; index < 1001; index += 1) await mkdir(join(rootDir, `pods/u${index}`));
    expect(await readPodTokens([rootDir], await open())).toEqual({value: {tokens: [], podsLeftOut: 3}});
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
