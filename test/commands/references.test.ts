import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {
  aContainerSpec,
  aManifest,
  aScene,
  expectUserError,
  NO_LEFTOVERS,
  type PodScene,
} from './pod-scene.js';
import {runToTimeLimit} from './run-to-time-limit.js';

const SECRET = 'hunter2-of-the-secret';

/** Several documents as one text. */
const documents = (...texts: readonly (string | object)[]): string =>
  texts.map((text) => (typeof text === 'string' ? text : JSON.stringify(text))).join('\n---\n');

const settings = (data: object = {COLOR: 'blue'}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'settings'},
  data,
});
const login = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name: 'login'},
  stringData: {password: SECRET, short: 'zz'},
};
const kata = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: {name: 'kata'},
  handler: 'kata-qemu',
  overhead: {podFixed: {cpu: '250m'}},
};

/** The pod web, whose only container's variables come from elsewhere. */
const podWith = (fields: object, spec: object = {}): string =>
  aManifest({containers: [aContainerSpec('main', fields)], ...spec});

const FROM_BOTH = {
  args: ['$(PASS)'],
  envFrom: [{configMapRef: {name: 'settings'}}],
  env: [
    {name: 'PASS', valueFrom: {secretKeyRef: {name: 'login', key: 'password'}}},
    {name: 'S', valueFrom: {secretKeyRef: {name: 'login', key: 'short'}}},
  ],
};

function envOf(scene: PodScene): Record<string, string> {
  const {envs = []} = scene.runtime.containers.at(-1)?.config ?? {};
  return Object.fromEntries(envs.map(({key, value}) => [key, Buffer.from(value).toString()]));
}

/** The text of every file below a directory. */
async function textsBelow(directory: string): Promise<string> {
  const files = (await readdir(directory, {recursive: true, withFileTypes: true})).filter((file) =>
    file.isFile(),
  );
  const texts = await Promise.all(
    files.map(({parentPath, name}) => readFile(join(parentPath, name), 'latin1')),
  );
  return texts.join('\n');
}

describe('sync', () => {
  test('takes variables from documents beside the Pod, in the same file or another of the directory', async () => {
    const scene = await aScene();
    await scene.write('pod.yaml', documents(podWith(FROM_BOTH), settings()));
    await scene.write('secret.json', documents({apiVersion: 'v1', kind: 'SecretList', items: [login]}));

    const {exitCode, stderr} = await scene.run(['sync', scene.directory]);

    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(envOf(scene)).toEqual({COLOR: 'blue', PASS: SECRET, S: 'zz'});
    expect(scene.runtime.containers[0]?.config.args).toEqual([SECRET]);
  });

  test('shows and records nothing of a Secret, with --debug neither', async () => {
    const scene = await aScene();
    scene.runtime.injectError('StartContainer', {code: 'UNKNOWN', message: `exec: "${SECRET}": not found`});
    const stdin = documents(podWith(FROM_BOTH), settings(), login);

    const {exitCode, stdout, stderr} = await runToTimeLimit(scene, ['sync', '-', '-D', '-o', 'json'], {
      limitMs: 1000,
      isReached: ({stdout}) => stdout.includes('exec: \\"***\\": not found'),
      stdin,
    });

    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('> CreateContainer');
    for (const text of [stdout, stderr, await textsBelow(scene.rootDir)]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(Buffer.from(SECRET).toString('base64'));
      expect(text).not.toContain(Buffer.from('zz').toString('base64'));
    }
  });

  test('does not restart a container whose ConfigMap has changed', async () => {
    const scene = await aScene();
    const pod = podWith({envFrom: [{configMapRef: {name: 'settings'}}]});
    await scene.run(['sync', '-'], {stdin: documents(pod, settings())});
    scene.runtime.clearCalls();

    const {exitCode} = await scene.run(['sync', '-'], {stdin: documents(pod, settings({COLOR: 'red'}))});

    expect(exitCode).toBe(0);
    expect(scene.mutatingCalls).toEqual([]);
    expect(envOf(scene)).toEqual({COLOR: 'blue'});
  });

  test.each([
    [
      'configmap \\"settings\\" not found',
      'add the ConfigMap "default/settings" to the Pod\'s manifests (searched: stdin)',
      [],
    ],
    [
      "couldn't find key password in Secret default/login",
      'its keys are: user',
      [settings(), {...login, stringData: {user: 'x'}}],
    ],
  ])('fails with %s, and says where it looked', async (message, hint, beside) => {
    const scene = await aScene();

    const result = await scene.run(['sync', '-', '-o', 'json'], {
      stdin: documents(podWith(FROM_BOTH), ...beside),
    });

    expectUserError(result);
    expect(result.stdout).toContain(`"reason":"CreateContainerConfigError"`);
    expect(result.stdout).toContain(message);
    expect(result.stderr).toContain(`hint: ${hint}\n`);
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('runs the pod as its RuntimeClass says', async () => {
    const scene = await aScene({runtimeHandlers: ['kata-qemu']});

    const {exitCode, stderr} = await scene.run(['sync', '-'], {
      stdin: documents(podWith({}, {runtimeClassName: 'kata'}), kata),
    });

    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(scene.runtime.callsTo('RunPodSandbox').map(({request}) => request)).toMatchObject([
      {runtime_handler: 'kata-qemu', config: {linux: {overhead: {cpu_shares: '256'}}}},
    ]);
  });

  test('makes no sandbox without the RuntimeClass', async () => {
    const scene = await aScene();

    const result = await scene.run(['sync', '-', '-o', 'json'], {
      stdin: podWith({}, {runtimeClassName: 'nosuch'}),
    });

    expectUserError(result);
    expect(result.stdout).toContain(
      'Failed to create pod sandbox: runtimeclass.node.k8s.io \\"nosuch\\" not found',
    );
    expect(result.stderr).toContain('hint: add the RuntimeClass "nosuch" to the Pod\'s manifests');
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('refuses what contradicts the RuntimeClass, with its place', async () => {
    const scene = await aScene();
    const stdin = documents(podWith({}, {runtimeClassName: 'kata', overhead: {cpu: '1'}}), kata);

    const {exitCode, stderr} = await scene.run(['sync', '-'], {stdin});

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^kcri: stdin:1:\d+: spec\.overhead: Forbidden: pod rejected: Pod's Overhead doesn't match/m,
    );
    expect(scene.runtime.calls).toEqual([]);
  });

  test('of a directory with ConfigMaps only says what is missing', async () => {
    const scene = await aScene();
    const file = await scene.write('settings.yaml', documents(settings()));

    const result = await scene.run(['sync', scene.directory]);

    expectUserError(result);
    expect(result.stderr).toBe(
      `kcri: no Pod in "${file}", only ConfigMaps\nhint: pass the manifests of the Pods that use them too, or their directory\n`,
    );
  });

  test('--static takes what lies beside the Pod, and refuses in the kubelet’s words what does not', async () => {
    const scene = await aScene();
    const pod = podWith(FROM_BOTH);

    const refused = await scene.run(['sync', '--static', '-'], {stdin: documents(pod, settings())});
    const taken = await scene.run(['sync', '--static', '-'], {stdin: documents(pod, settings(), login)});

    expect(refused.stderr).toContain('static pods may not reference secrets');
    expect({exitCode: taken.exitCode, stderr: taken.stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(envOf(scene)).toMatchObject({COLOR: 'blue', PASS: SECRET});
  });
});

test('a plan shows where a Secret’s values would be, and none of them', async () => {
  const scene = await aScene();
  const stdin = documents(podWith(FROM_BOTH), settings(), login);

  for (const format of ['text', 'json', 'yaml']) {
    const {stdout, stderr, exitCode} = await scene.run(['plan', '-', '-o', format], {stdin});
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(stdout).toContain('<password of the Secret login>');
    expect(stdout).toContain('blue');
    expect(stdout).not.toContain(SECRET);
    expect(stdout).not.toContain(Buffer.from(SECRET).toString('base64'));
  }
});

describe('delete', () => {
  test('takes the files that sync took', async () => {
    const scene = await aScene();
    const pod = await scene.write('pod.yaml', podWith(FROM_BOTH));
    const beside = await scene.write('objects.yaml', documents(settings(), login));
    await scene.run(['sync', pod, beside]);

    const {exitCode, stdout, stderr} = await scene.run(['delete', beside, pod]);

    expect({exitCode, stdout, stderr}).toEqual({
      exitCode: 0,
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
    });
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('of ConfigMaps only says that there is no Pod', async () => {
    const scene = await aScene();
    const file = await scene.write('settings.yaml', documents(settings()));

    const result = await scene.run(['delete', file]);

    expectUserError(result);
    expect(result.stderr).toBe(
      `kcri: no Pod in "${file}"\nhint: only Pods can be deleted; kcri does not create objects of other kinds\n`,
    );
  });
});
