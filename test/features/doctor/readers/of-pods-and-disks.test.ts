import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {readPodTokens, tokenExpiry} from '../../../../src/features/doctor/readers/pod-tokens.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

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
