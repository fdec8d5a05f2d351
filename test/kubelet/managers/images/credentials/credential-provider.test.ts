import {chmod, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CredentialProvider} from '../../../../../src/kubelet/managers/images/credentials/credential-provider.js';
import type {CredentialProviderEntry} from '../../../../../src/kubelet/managers/images/credentials/credential-provider-config.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {FakeClock, TEST_TIME_MS} from '../../../../fakes/fake-clock.js';

const API_VERSION = 'credentialprovider.kubelet.k8s.io/v1';
const signal = new AbortController().signal;

const aResponse = (fields: object = {}): object => ({
  kind: 'CredentialProviderResponse',
  apiVersion: API_VERSION,
  cacheKeyType: 'Registry',
  auth: {'r.example': {username: 'alice', password: 'topsecret'}},
  ...fields,
});

/** Creates a provider whose plugin logs its requests and runs `script`, which prints `response` by default. */
async function aProvider({
  response = aResponse(),
  script = `printf '%s' '${JSON.stringify(response)}'`,
  ...entry
}: Partial<CredentialProviderEntry> & {response?: object; script?: string} = {}) {
  const binDir = await temporaryDirectory();
  const log = join(binDir, 'log');
  await writeFile(
    join(binDir, 'vault'),
    `#!/bin/sh\n{ cat; echo " $* $PROFILE $HOME"; } >>${log}\n${script}\n`,
  );
  await chmod(join(binDir, 'vault'), 0o755);
  const clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'});
  const provider = new CredentialProvider(
    {
      name: 'vault',
      matchImages: ['*.example'],
      defaultCacheDuration: '10s',
      apiVersion: API_VERSION,
      ...entry,
    },
    {binDir, env: {PATH: process.env['PATH'], HOME: '/home/test', PROFILE: 'own'}, clock},
  );
  const requests = async (): Promise<readonly string[]> =>
    (await readFile(log, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return {provider, clock, requests};
}

test('a plugin gets the request on standard input, and its arguments and variables', async () => {
  const {provider, requests} = await aProvider({
    args: ['get', 'it'],
    env: [{name: 'PROFILE', value: 'test'}],
  });
  expect(await provider.provide('r.example/team/app', signal)).toEqual({
    config: new Map([['r.example', {username: 'alice', password: 'topsecret', email: ''}]]),
  });
  expect(await requests()).toEqual([
    `{"kind":"CredentialProviderRequest","apiVersion":"${API_VERSION}","image":"r.example/team/app"} get it test /home/test`,
  ]);
});

test('a plugin is not run for an image that its patterns do not match', async () => {
  const {provider, requests} = await aProvider();
  expect(await provider.provide('other.test/app', signal)).toEqual({config: new Map()});
  expect(await requests()).toEqual([]);
});

describe('a response is cached', () => {
  const IMAGES = ['r.example/a', 'r.example/a', 'r.example/b', 's.example/c'];
  test.each([
    ['Image', undefined, 3],
    ['Registry', undefined, 2],
    ['Global', undefined, 1],
    ['Global', '0s', 4],
    ['Global', null, 1],
  ])('by %s for %s: %i requests for four images', async (cacheKeyType, cacheDuration, expected) => {
    const {provider, requests} = await aProvider({response: aResponse({cacheKeyType, cacheDuration})});
    for (const image of IMAGES) await provider.provide(image, signal);
    expect(await requests()).toHaveLength(expected);
  });

  test.each([
    ['its own duration', '1m30s', 90_000],
    ["the provider's default duration", undefined, 10_000],
  ])('for %s', async (_, cacheDuration, ms) => {
    const {provider, requests, clock} = await aProvider({response: aResponse({cacheDuration})});
    const counts: number[] = [];
    for (const passed of [0, ms, 1]) {
      clock.elapse(passed);
      await provider.provide('r.example/a', signal);
      counts.push((await requests()).length);
    }
    expect(counts).toEqual([1, 1, 2]);
  });

  test('never with a default duration of 0', async () => {
    const {provider, requests} = await aProvider({defaultCacheDuration: '0s'});
    for (const image of ['r.example/a', 'r.example/a']) await provider.provide(image, signal);
    expect(await requests()).toHaveLength(2);
  });
});

describe('a failure is reported without the plugin’s output and not cached', () => {
  test.each([
    ['echo topsecret; echo topsecret >&2; exit 3', 'it exited with code 3'],
    ['kill -9 $$', 'it was killed by a signal'],
    ['echo topsecret', 'its response is not JSON'],
    ['echo \'["topsecret"]\'', 'its response is invalid'],
    [
      `echo '${JSON.stringify(aResponse({kind: 'topsecret'}))}'`,
      'its response is not a CredentialProviderResponse',
    ],
    [
      `echo '${JSON.stringify(aResponse({apiVersion: 'v2'}))}'`,
      `the apiVersion of its response is not ${API_VERSION}`,
    ],
    [
      `echo '${JSON.stringify(aResponse({cacheKeyType: ''}))}'`,
      'credential provider plugin did not return a valid cacheKeyType',
    ],
    [
      `echo '${JSON.stringify(aResponse({cacheDuration: 'topsecret'}))}'`,
      '"cacheDuration" is not a duration',
    ],
    [
      `echo '${JSON.stringify(aResponse({auth: {r: {password: 'topsecret'}}}))}'`,
      'its response has credentials without username or password',
    ],
  ])('%s', async (script, reason) => {
    const {provider, requests} = await aProvider({script});
    const problem = `credential provider "vault" failed: ${reason}`;
    expect(await provider.provide('r.example/a', signal)).toEqual({problem});
    expect(await provider.provide('r.example/a', signal)).toEqual({problem});
    expect(await requests()).toHaveLength(2);
  });

  test('of a missing plugin', async () => {
    const {provider} = await aProvider({name: 'missing'});
    expect(await provider.provide('r.example/a', signal)).toEqual({
      problem: 'credential provider "missing" failed: no such file or directory',
    });
  });
});

test('aborting kills the plugin and rejects with the signal’s reason', async () => {
  const {provider, requests} = await aProvider({script: 'exec sleep 60'});
  const controller = new AbortController();
  const providing = provider.provide('r.example/a', controller.signal);
  await expect.poll(requests).toHaveLength(1);
  const reason = new Error('stop');
  controller.abort(reason);
  await expect(providing).rejects.toBe(reason);
});
