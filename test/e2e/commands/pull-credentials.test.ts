import {chmod, mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {ALICE, startImageRegistry, type ImageRegistry} from '../harness/image-registry.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const LOGIN = `${ALICE.name}:${ALICE.password}`;
const BASE64 = Buffer.from(LOGIN).toString('base64');

describe.each(newestRuntime)('a registry with authentication, on $name', (which) => {
  let runtime: TestRuntime;
  let registry: ImageRegistry;
  let image: string;
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'kcri-home-'));
    registry = await startImageRegistry(ALICE);
    image = await registry.push('team/app', '1');
    runtime = await startPrivateRuntime(which);
  });
  afterAll(async () => {
    await runtime.stop();
    await registry.stop();
    await rm(home, {recursive: true});
  });

  const put = async (path: string, content: string): Promise<string> => {
    const file = join(home, path);
    await mkdir(join(file, '..'), {recursive: true});
    await writeFile(file, content);
    return file;
  };
  const pull = async (
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
    input = '',
  ) => {
    await runtime.kcri(['rmi', '--force', image]);
    return await runtime.kcri(['pull', ...args, image], {
      env: {HOME: home, DOCKER_CONFIG: undefined, REGISTRY_AUTH_FILE: undefined, ...env},
      input,
    });
  };
  const PULLED = {
    stdout: expect.stringMatching(/^Image is up to date for sha256:/) as string,
    stderr: '',
    exitCode: 0,
  };

  test('rejects a pull without credentials, with a hint and without secrets', async () => {
    for (const args of [[], ['--creds', 'alice:wrong-secret']]) {
      const {stderr, exitCode} = await pull(args);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^kcri: pulling image: .*\nhint: the registry rejected the credentials/);
      expect(stderr).not.toMatch(/wrong-secret|rpc error/);
    }
  });

  test('accepts --creds, --auth, -u and their variables', async () => {
    expect(await pull(['--creds', LOGIN])).toEqual(PULLED);
    expect(await pull(['--auth', BASE64])).toEqual(PULLED);
    expect(await pull(['-u', ALICE.name], {}, `${ALICE.password}\n`)).toEqual(PULLED);
    expect(await pull([], {CRICTL_CREDS: LOGIN})).toEqual(PULLED);
    expect(await pull([], {CRICTL_AUTH: BASE64})).toEqual(PULLED);
  });

  test("accepts docker's config.json and a credential helper", async () => {
    const config = await put(
      'docker/config.json',
      JSON.stringify({auths: {[registry.host]: {auth: BASE64}}}),
    );
    expect(await pull([], {DOCKER_CONFIG: join(config, '..')})).toEqual(PULLED);
    expect(await pull(['--auth-file', config])).toEqual(PULLED);
    expect((await pull(['--no-auth-file'], {DOCKER_CONFIG: join(config, '..')})).exitCode).toBe(1);
    const answer = JSON.stringify({ServerURL: registry.host, Username: ALICE.name, Secret: ALICE.password});
    await chmod(await put('bin/docker-credential-test', `#!/bin/sh\nprintf '%s' '${answer}'\n`), 0o755);
    await put('.docker/config.json', JSON.stringify({credHelpers: {[registry.host]: 'test'}}));
    expect(await pull([], {PATH: `${home}/bin:${process.env['PATH'] ?? ''}`})).toEqual(PULLED);
  });
});
