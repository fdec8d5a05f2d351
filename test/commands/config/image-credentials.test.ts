import {existsSync} from 'node:fs';
import {chmod, mkdir, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {anImage} from '../../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  expectUserError,
  type CommandTestbed,
} from '../command-testbed.js';

const IMAGE = 'r.example/team/app:1';
const PASSWORD = 'top-secret';

const aLogin = (username: string): object => ({auths: {'r.example': {username, password: PASSWORD}}});

/** Creates a pod whose image is pulled with its Secret, the node's docker config or a provider. */
async function createPullTestbed() {
  const testbed = await createTestbed({registry: [anImage({name: IMAGE})]});
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'login'},
    type: 'kubernetes.io/dockerconfigjson',
    stringData: {'.dockerconfigjson': JSON.stringify(aLogin('pod'))},
  };
  const pod = aManifest({
    containers: [aContainerSpec('main', {image: IMAGE})],
    imagePullSecrets: [{name: 'login'}],
  });
  const file = await testbed.write('pod.yaml', `${JSON.stringify(secret)}\n---\n${pod}\n`);
  await mkdir(join(testbed.directory, '.docker'));
  await testbed.write('.docker/config.json', JSON.stringify(aLogin('node')));
  const run = async (command: string, ...args: readonly string[]) =>
    await testbed.run([command, ...(await providerFlags(testbed)), ...args, file], {
      env: {HOME: testbed.directory, PATH: process.env['PATH'] ?? ''},
    });
  return {testbed, run};
}

/** Returns flags for a credential provider that creates a file when it runs. */
async function providerFlags(testbed: CommandTestbed): Promise<readonly string[]> {
  const response = {
    kind: 'CredentialProviderResponse',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    cacheKeyType: 'Global',
    auth: {'r.example': {username: 'plugin', password: PASSWORD}},
  };
  const script = `#!/bin/sh\ntouch '${testbed.directory}/was-run'\nprintf '%s' '${JSON.stringify(response)}'\n`;
  await chmod(await testbed.write('vault', script), 0o755);
  const provider = {name: 'vault', matchImages: ['*.example'], defaultCacheDuration: '1h'};
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: [{...provider, apiVersion: response.apiVersion}],
  };
  const file = await testbed.write('providers.json', JSON.stringify(config));
  return [
    '--image-credential-provider-config',
    file,
    '--image-credential-provider-bin-dir',
    testbed.directory,
  ];
}

describe.each(['sync', 'runp'])('%s', (command) => {
  test("tries the pod's Secret, the node's docker config and its providers in turn, and prints no password", async () => {
    const {testbed, run} = await createPullTestbed();
    testbed.runtime.injectError('PullImage', {code: 'UNKNOWN', message: 'access denied'});
    const {stdout, stderr, exitCode} = await run(command, '-D');
    expect(exitCode).toBe(1);
    const users = testbed.runtime.callsTo('PullImage').map(({request}) => request['auth']);
    expect(users).toEqual(['pod', 'node', 'plugin'].map((username) => ({username, password: PASSWORD})));
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  // Proves: Pod.apiVersion
  test('records the credentials that may use the image, but no password', async () => {
    const {testbed, run} = await createPullTestbed();
    expect(await run(command)).toMatchObject({exitCode: 0});
    const files = await readdir(join(testbed.rootDir, 'image_manager', 'pulled'));
    expect(files).toEqual([expect.stringMatching(/^sha256-[0-9a-f]{64}$/)]);
  });
});

test('a plan pulls like the pod, runs no provider, writes nothing and prints no password', async () => {
  const {testbed, run} = await createPullTestbed();
  const {stdout, stderr, exitCode} = await run('plan', '-o', 'json');
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  const [{calls}] = JSON.parse(stdout) as [{calls: readonly {method: string; request: object}[]}];
  expect(calls.find(({method}) => method === 'PullImage')?.request).toMatchObject({
    auth: {username: 'pod', password: '***'},
  });
  expect(stdout).not.toContain(PASSWORD);
  expect(existsSync(join(testbed.directory, 'was-run'))).toBe(false);
  expect(existsSync(join(testbed.rootDir, 'image_manager'))).toBe(false);
});

describe('invalid credential providers are reported before any change:', () => {
  test.each([
    ['one of the two flags', ['--image-credential-provider-bin-dir', '/bin'], /must be set together/],
    [
      'a missing config',
      ['--image-credential-provider-config', '/no/such.yaml', '--image-credential-provider-bin-dir', '/bin'],
      /cannot read credential providers from "\/no\/such.yaml": no such file or directory\nhint: set --image-credential-provider-config/,
    ],
  ])('%s', async (_, flags, message) => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    const result = await testbed.run(['sync', ...flags, file]);
    expect(result.exitCode).toBe(1);
    expectUserError(result);
    expect(result.stderr).toMatch(message);
    expect(testbed.runtime.calls).toEqual([]);
  });
});
