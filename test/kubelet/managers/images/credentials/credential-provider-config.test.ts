import {chmod, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {ConfigError} from '../../../../../src/base/errors.js';
import {
  parseCredentialProviderConfig,
  readCredentialProviderConfig,
} from '../../../../../src/kubelet/managers/images/credentials/credential-provider-config.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';

const aProvider = (fields: object = {}): object => ({
  name: 'vault',
  matchImages: ['*.example'],
  defaultCacheDuration: '12h',
  apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
  ...fields,
});

const aConfig = (providers: readonly object[] = [aProvider()], fields: object = {}): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers,
    ...fields,
  });

test('a config in the form of the kubelet’s documentation is parsed', () => {
  const text = `
apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
  - name: vault
    matchImages: ["*.example", "other.example:5000/team"]
    defaultCacheDuration: "12h"
    apiVersion: credentialprovider.kubelet.k8s.io/v1
    args: [get-credentials]
    env: [{name: PROFILE, value: test}]
`;
  expect(parseCredentialProviderConfig(text, 'providers.yaml')).toEqual([
    {
      name: 'vault',
      matchImages: ['*.example', 'other.example:5000/team'],
      defaultCacheDuration: '12h',
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      args: ['get-credentials'],
      env: [{name: 'PROFILE', value: 'test'}],
    },
  ]);
});

describe('a problem is reported with its line', () => {
  test.each([
    ['kind: Unsupported value: "Pod"', aConfig(undefined, {kind: 'Pod'})],
    ['apiVersion: Unsupported value: "v1"', aConfig(undefined, {apiVersion: 'v1'})],
    ['providers: Required value: at least 1 item in plugins is required', aConfig([])],
    ['providers[0].name: Required value', aConfig([aProvider({name: ''})])],
    [
      `providers[0].name: Invalid value: "a/b": provider name cannot contain '/'`,
      aConfig([aProvider({name: 'a/b'})]),
    ],
    [
      `providers[0].name: Invalid value: "a b": provider name cannot contain spaces`,
      aConfig([aProvider({name: 'a b'})]),
    ],
    [
      `providers[0].name: Invalid value: "..": provider name cannot be '..'`,
      aConfig([aProvider({name: '..'})]),
    ],
    ['providers[1].name: Duplicate value: "vault"', aConfig([aProvider(), aProvider()])],
    ['providers[0].apiVersion: Required value', aConfig([aProvider({apiVersion: ''})])],
    ['providers[0].apiVersion: Unsupported value: "v2"', aConfig([aProvider({apiVersion: 'v2'})])],
    ['providers[0].matchImages: Required value', aConfig([aProvider({matchImages: []})])],
    [
      'providers[0].matchImages[1]: Invalid value: "a b": match image is invalid',
      aConfig([aProvider({matchImages: ['a', 'a b']})]),
    ],
    [
      'providers[0].defaultCacheDuration: Required value',
      aConfig([aProvider({defaultCacheDuration: undefined})]),
    ],
    [
      'providers[0].defaultCacheDuration: Invalid value: "1 day": must be a duration',
      aConfig([aProvider({defaultCacheDuration: '1 day'})]),
    ],
    [
      'providers[0].defaultCacheDuration: Invalid value: "-1s": must be greater than or equal to 0',
      aConfig([aProvider({defaultCacheDuration: '-1s'})]),
    ],
    [
      'providers[0].tokenAttributes: Forbidden: service account tokens require an API server',
      aConfig([aProvider({tokenAttributes: {}})]),
    ],
    [
      'unknown field "providers[0].matchImage", did you mean "matchImages"?',
      aConfig([aProvider({matchImage: ['a']})]),
    ],
  ])('%s', (message, text) => {
    const parse = (): unknown => parseCredentialProviderConfig(text, 'providers.yaml');
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(/^providers\.yaml:1:\d+: /);
    expect(parse).toThrow(message);
  });

  test.each([
    ['', /must contain one CredentialProviderConfig/],
    ['a: 1\n---\nb: 1\n', /must contain one CredentialProviderConfig/],
    ['a: [', /providers\.yaml:1:\d+: yaml: /],
  ])('the file %j is rejected', (text, message) => {
    expect(() => parseCredentialProviderConfig(text, 'providers.yaml')).toThrow(message);
  });
});

/** Creates a bin directory with plugins, and a directory for configs. */
async function createDirectories(...programs: readonly string[]) {
  const dir = await temporaryDirectory();
  const binDir = join(dir, 'bin');
  await mkdir(binDir);
  for (const name of programs) {
    await writeFile(join(binDir, name), '#!/bin/sh\n');
    await chmod(join(binDir, name), 0o755);
  }
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(dir, name), text);
    return join(dir, name);
  };
  return {dir, binDir, write};
}

test('all files of a directory are read in lexical order', async () => {
  const {dir, binDir, write} = await createDirectories('a', 'b');
  await write('2.yaml', aConfig([aProvider({name: 'b'})]));
  await write('1.json', aConfig([aProvider({name: 'a'})]));
  await write('notes.txt', 'nothing');
  expect((await readCredentialProviderConfig(dir, binDir)).map(({name}) => name)).toEqual(['a', 'b']);
});

test.each([
  [
    'a provider name in two files',
    {'1.yaml': aConfig(), '2.yaml': aConfig()},
    'duplicate provider name "vault"',
  ],
  ['a directory without files', {}, 'no configuration files found in directory'],
  [
    'a missing plugin',
    {'1.yaml': aConfig([aProvider({name: 'missing'})])},
    'missing": no such file or directory',
  ],
])('%s is rejected', async (_, files, message) => {
  const {dir, binDir, write} = await createDirectories('vault');
  for (const [name, text] of Object.entries(files)) await write(name, text);
  await expect(readCredentialProviderConfig(dir, binDir)).rejects.toThrow(message);
});

test('a missing file is rejected with a hint that names the flag', async () => {
  const {dir, binDir} = await createDirectories();
  await expect(readCredentialProviderConfig(join(dir, 'missing.yaml'), binDir)).rejects.toMatchObject({
    message: expect.stringContaining('missing.yaml": no such file or directory') as string,
    hint: expect.stringContaining('--image-credential-provider-config') as string,
  });
});
