import {chmod, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CredentialProvider} from '../../../../src/kubelet/images/credentials/credential-provider.js';
import type {CredentialProviderEntry} from '../../../../src/kubelet/images/credentials/provider-config.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aClock} from '../a-clock.js';

const API_VERSION = 'credentialprovider.kubelet.k8s.io/v1';
const signal = new AbortController().signal;

const anAnswer = (fields: object = {}): object => ({
  kind: 'CredentialProviderResponse',
  apiVersion: API_VERSION,
  cacheKeyType: 'Registry',
  auth: {'r.example': {username: 'alice', password: 'topsecret'}},
  ...fields,
});

/** A provider whose program writes down what it is asked and runs `script`, by default to print `answer`. */
async function aProvider({
  answer = anAnswer(),
  script = `printf '%s' '${JSON.stringify(answer)}'`,
  ...entry
}: Partial<CredentialProviderEntry> & {answer?: object; script?: string} = {}) {
  const binDir = await temporaryDirectory();
  const log = join(binDir, 'log');
  await writeFile(
    join(binDir, 'vault'),
    `#!/bin/sh\n{ cat; echo " $* $PROFILE $HOME"; } >>${log}\n${script}\n`,
  );
  await chmod(join(binDir, 'vault'), 0o755);
  const clock = aClock();
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
  const asked = async (): Promise<readonly string[]> =>
    (await readFile(log, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return {provider, clock, asked};
}

test('a program is asked on standard input, with its arguments and variables', async () => {
  const {provider, asked} = await aProvider({args: ['get', 'it'], env: [{name: 'PROFILE', value: 'test'}]});
  expect(await provider.provide('r.example/team/app', signal)).toEqual({
    config: new Map([['r.example', {username: 'alice', password: 'topsecret', email: ''}]]),
  });
  expect(await asked()).toEqual([
    `{"kind":"CredentialProviderRequest","apiVersion":"${API_VERSION}","image":"r.example/team/app"} get it test /home/test`,
  ]);
});

test('it is not asked for an image of others', async () => {
  const {provider, asked} = await aProvider();
  expect(await provider.provide('other.test/app', signal)).toEqual({config: new Map()});
  expect(await asked()).toEqual([]);
});

describe('an answer counts for as long and as widely as it says', () => {
  const IMAGES = ['r.example/a', 'r.example/a', 'r.example/b', 's.example/c'];
  test.each([
    ['Image', undefined, 3],
    ['Registry', undefined, 2],
    ['Global', undefined, 1],
    ['Global', '0s', 4],
    ['Global', null, 1],
  ])('%s, %s: %i questions for four images', async (cacheKeyType, cacheDuration, questions) => {
    const {provider, asked} = await aProvider({answer: anAnswer({cacheKeyType, cacheDuration})});
    for (const image of IMAGES) await provider.provide(image, signal);
    expect(await asked()).toHaveLength(questions);
  });

  test.each([
    ['its own time', '1m30s', 90_000],
    ["the provider's default", undefined, 10_000],
  ])('%s', async (_, cacheDuration, ms) => {
    const {provider, asked, clock} = await aProvider({answer: anAnswer({cacheDuration})});
    const counts: number[] = [];
    for (const passed of [0, ms, 1]) {
      clock.pass(passed);
      await provider.provide('r.example/a', signal);
      counts.push((await asked()).length);
    }
    expect(counts).toEqual([1, 1, 2]);
  });

  test('without a default it counts once', async () => {
    const {provider, asked} = await aProvider({defaultCacheDuration: '0s'});
    for (const image of ['r.example/a', 'r.example/a']) await provider.provide(image, signal);
    expect(await asked()).toHaveLength(2);
  });
});

describe('what fails is told without repeating anything, and is asked again', () => {
  test.each([
    ['echo topsecret; echo topsecret >&2; exit 3', 'it ended with exit code 3'],
    ['kill -9 $$', 'it ended with a signal'],
    ['echo topsecret', 'its answer is not JSON'],
    ['echo \'["topsecret"]\'', 'its answer is not what the protocol has'],
    [
      `echo '${JSON.stringify(anAnswer({kind: 'topsecret'}))}'`,
      'its answer is no CredentialProviderResponse',
    ],
    [
      `echo '${JSON.stringify(anAnswer({apiVersion: 'v2'}))}'`,
      `its answer is not in the version ${API_VERSION} of the protocol`,
    ],
    [
      `echo '${JSON.stringify(anAnswer({cacheKeyType: ''}))}'`,
      'credential provider plugin did not return a valid cacheKeyType',
    ],
    [`echo '${JSON.stringify(anAnswer({cacheDuration: 'topsecret'}))}'`, '"cacheDuration" is not a duration'],
    [
      `echo '${JSON.stringify(anAnswer({auth: {r: {password: 'topsecret'}}}))}'`,
      'its answer has a login without username and password',
    ],
  ])('%s', async (script, reason) => {
    const {provider, asked} = await aProvider({script});
    const problem = `the credential provider "vault" was no help: ${reason}`;
    expect(await provider.provide('r.example/a', signal)).toEqual({problem});
    expect(await provider.provide('r.example/a', signal)).toEqual({problem});
    expect(await asked()).toHaveLength(2);
  });

  test('a program that is not there', async () => {
    const {provider} = await aProvider({name: 'gone'});
    expect(await provider.provide('r.example/a', signal)).toEqual({
      problem: 'the credential provider "gone" was no help: no such file or directory',
    });
  });
});

test('aborting kills the program and rejects with the signal’s reason', async () => {
  const {provider, asked} = await aProvider({script: 'exec sleep 60'});
  const controller = new AbortController();
  const providing = provider.provide('r.example/a', controller.signal);
  await expect.poll(asked).toHaveLength(1);
  const reason = new Error('stop');
  controller.abort(reason);
  await expect(providing).rejects.toBe(reason);
});
