import {existsSync} from 'node:fs';
import {chmod, mkdir, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {anImage} from '../../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, aScene, expectUserError, type PodScene} from '../pod-scene.js';

const IMAGE = 'r.example/team/app:1';
const PASSWORD = 'top-secret';

const aLogin = (username: string): object => ({auths: {'r.example': {username, password: PASSWORD}}});

/** A pod whose image has to be pulled with its Secret, the node's docker config or a provider. */
async function aPullingScene() {
  const scene = await aScene({registry: [anImage({name: IMAGE})]});
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
  const file = await scene.write('pod.yaml', `${JSON.stringify(secret)}\n---\n${pod}\n`);
  await mkdir(join(scene.directory, '.docker'));
  await scene.write('.docker/config.json', JSON.stringify(aLogin('node')));
  const run = async (command: string, ...args: readonly string[]) =>
    await scene.run([command, ...(await providerFlags(scene)), ...args, file], {
      env: {HOME: scene.directory, PATH: process.env['PATH'] ?? ''},
    });
  return {scene, run};
}

/** Flags for a provider that leaves a file when it is run. */
async function providerFlags(scene: PodScene): Promise<readonly string[]> {
  const answer = {
    kind: 'CredentialProviderResponse',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    cacheKeyType: 'Global',
    auth: {'r.example': {username: 'plugin', password: PASSWORD}},
  };
  const script = `#!/bin/sh\ntouch '${scene.directory}/was-run'\nprintf '%s' '${JSON.stringify(answer)}'\n`;
  await chmod(await scene.write('vault', script), 0o755);
  const provider = {name: 'vault', matchImages: ['*.example'], defaultCacheDuration: '1h'};
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: [{...provider, apiVersion: answer.apiVersion}],
  };
  const file = await scene.write('providers.json', JSON.stringify(config));
  return ['--image-credential-provider-config', file, '--image-credential-provider-bin-dir', scene.directory];
}

describe.each(['sync', 'runp'])('%s', (command) => {
  test("tries the pod's Secret, the node's docker config and its providers in turn, and shows no password", async () => {
    const {scene, run} = await aPullingScene();
    scene.runtime.injectError('PullImage', {code: 'UNKNOWN', message: 'not let in'});
    const {stdout, stderr, exitCode} = await run(command, '-D');
    expect(exitCode).toBe(1);
    const users = scene.runtime.callsTo('PullImage').map(({request}) => request['auth']);
    expect(users).toEqual(['pod', 'node', 'plugin'].map((username) => ({username, password: PASSWORD})));
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  test('records who may use the image, and no password', async () => {
    const {scene, run} = await aPullingScene();
    expect(await run(command)).toMatchObject({exitCode: 0});
    const files = await readdir(join(scene.rootDir, 'image_manager', 'pulled'));
    expect(files).toEqual([expect.stringMatching(/^sha256-[0-9a-f]{64}$/)]);
  });
});

test('a plan pulls as the pod, runs no provider, writes nothing and shows no password', async () => {
  const {scene, run} = await aPullingScene();
  const {stdout, stderr, exitCode} = await run('plan', '-o', 'json');
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  const [{calls}] = JSON.parse(stdout) as [{calls: readonly {method: string; request: object}[]}];
  expect(calls.find(({method}) => method === 'PullImage')?.request).toMatchObject({
    auth: {username: 'pod', password: '***'},
  });
  expect(stdout).not.toContain(PASSWORD);
  expect(existsSync(join(scene.directory, 'was-run'))).toBe(false);
  expect(existsSync(join(scene.rootDir, 'image_manager'))).toBe(false);
});

describe('providers that can’t be had are told of before anything is done', () => {
  test.each([
    ['one flag without the other', ['--image-credential-provider-bin-dir', '/bin'], /must be set together/],
    [
      'a config that is not there',
      ['--image-credential-provider-config', '/no/such.yaml', '--image-credential-provider-bin-dir', '/bin'],
      /cannot read credential providers from "\/no\/such.yaml": no such file or directory\nhint: set --image-credential-provider-config/,
    ],
  ])('%s', async (_, flags, message) => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    const result = await scene.run(['sync', ...flags, file]);
    expect(result.exitCode).toBe(1);
    expectUserError(result);
    expect(result.stderr).toMatch(message);
    expect(scene.runtime.calls).toEqual([]);
  });
});
