import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {yamlStream} from '../fakes/yaml-stream.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  expectUserError,
  NO_LEFTOVERS,
  type CommandTestbed,
} from './command-testbed.js';
import {runToTimeLimit} from './run-to-time-limit.js';

const SECRET = 'hunter2-of-the-secret';

const configMap = (data: object = {COLOR: 'blue'}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'settings'},
  data,
});
const loginSecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name: 'login'},
  stringData: {password: SECRET, short: 'zz'},
};
const kataRuntimeClass = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: {name: 'kata'},
  handler: 'kata-qemu',
  overhead: {podFixed: {cpu: '250m'}},
};

/** Returns the pod web with a container whose variables refer to other objects. */
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

function envOf(testbed: CommandTestbed): Record<string, string> {
  const {envs = []} = testbed.runtime.containers.at(-1)?.config ?? {};
  return Object.fromEntries(envs.map(({key, value}) => [key, Buffer.from(value).toString()]));
}

/** Returns the contents of all files below a directory. */
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
  test("uses objects in the Pod's file or directory as variables", async () => {
    const testbed = await createTestbed();
    await testbed.write('pod.yaml', yamlStream(podWith(FROM_BOTH), configMap()));
    await testbed.write(
      'secret.json',
      yamlStream({apiVersion: 'v1', kind: 'SecretList', items: [loginSecret]}),
    );

    const {exitCode, stderr} = await testbed.run(['sync', testbed.directory]);

    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(envOf(testbed)).toEqual({COLOR: 'blue', PASS: SECRET, S: 'zz'});
    expect(testbed.runtime.containers[0]?.config.args).toEqual([SECRET]);
  });

  test('prints and records no value of a Secret, even with --debug', async () => {
    const testbed = await createTestbed();
    testbed.runtime.injectError('StartContainer', {code: 'UNKNOWN', message: `exec: "${SECRET}": not found`});
    const stdin = yamlStream(podWith(FROM_BOTH), configMap(), loginSecret);

    const {exitCode, stdout, stderr} = await runToTimeLimit(testbed, ['sync', '-', '-D', '-o', 'json'], {
      limitMs: 1000,
      isReached: ({stdout}) => stdout.includes('exec: \\"***\\": not found'),
      stdin,
    });

    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('> CreateContainer');
    for (const text of [stdout, stderr, await textsBelow(testbed.rootDir)]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(Buffer.from(SECRET).toString('base64'));
      expect(text).not.toContain(Buffer.from('zz').toString('base64'));
    }
  });

  test('does not restart a container after a change of its ConfigMap', async () => {
    const testbed = await createTestbed();
    const pod = podWith({envFrom: [{configMapRef: {name: 'settings'}}]});
    await testbed.run(['sync', '-'], {stdin: yamlStream(pod, configMap())});
    testbed.runtime.clearCalls();

    const {exitCode} = await testbed.run(['sync', '-'], {stdin: yamlStream(pod, configMap({COLOR: 'red'}))});

    expect(exitCode).toBe(0);
    expect(testbed.mutatingCalls).toEqual([]);
    expect(envOf(testbed)).toEqual({COLOR: 'blue'});
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
      [configMap(), {...loginSecret, stringData: {user: 'x'}}],
    ],
  ])('fails with %s and lists the searched sources', async (message, hint, beside) => {
    const testbed = await createTestbed();

    const result = await testbed.run(['sync', '-', '-o', 'json'], {
      stdin: yamlStream(podWith(FROM_BOTH), ...beside),
    });

    expectUserError(result);
    expect(result.stdout).toContain(`"reason":"CreateContainerConfigError"`);
    expect(result.stdout).toContain(message);
    expect(result.stderr).toContain(`hint: ${hint}\n`);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  // Proves: PodSpec.runtimeClassName
  test("applies the pod's RuntimeClass", async () => {
    const testbed = await createTestbed({runtimeHandlers: ['kata-qemu']});

    const {exitCode, stderr} = await testbed.run(['sync', '-'], {
      stdin: yamlStream(podWith({}, {runtimeClassName: 'kata'}), kataRuntimeClass),
    });

    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(testbed.runtime.callsTo('RunPodSandbox').map(({request}) => request)).toMatchObject([
      {runtime_handler: 'kata-qemu', config: {linux: {overhead: {cpu_shares: '256'}}}},
    ]);
  });

  test('creates no sandbox without the RuntimeClass', async () => {
    const testbed = await createTestbed();

    const result = await testbed.run(['sync', '-', '-o', 'json'], {
      stdin: podWith({}, {runtimeClassName: 'nosuch'}),
    });

    expectUserError(result);
    expect(result.stdout).toContain(
      'Failed to create pod sandbox: runtimeclass.node.k8s.io \\"nosuch\\" not found',
    );
    expect(result.stderr).toContain('hint: add the RuntimeClass "nosuch" to the Pod\'s manifests');
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('rejects contradictions to the RuntimeClass, with their position', async () => {
    const testbed = await createTestbed();
    const stdin = yamlStream(podWith({}, {runtimeClassName: 'kata', overhead: {cpu: '1'}}), kataRuntimeClass);

    const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin});

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^kcri: stdin:1:\d+: spec\.overhead: Forbidden: pod rejected: Pod's Overhead doesn't match/m,
    );
    expect(testbed.runtime.calls).toEqual([]);
  });

  test('reports a missing Pod in a directory with ConfigMaps', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('settings.yaml', yamlStream(configMap()));

    const result = await testbed.run(['sync', testbed.directory]);

    expectUserError(result);
    expect(result.stderr).toBe(
      `kcri: no Pod in "${file}", only ConfigMaps\nhint: pass the manifests of the Pods or workloads that use them too, or their directory\n`,
    );
  });

  test("--static uses objects beside the Pod, and rejects unsupported references with the kubelet's error", async () => {
    const testbed = await createTestbed();
    const pod = podWith(FROM_BOTH);

    const rejected = await testbed.run(['sync', '--static', '-'], {stdin: yamlStream(pod, configMap())});
    const accepted = await testbed.run(['sync', '--static', '-'], {
      stdin: yamlStream(pod, configMap(), loginSecret),
    });

    expect(rejected.stderr).toContain('static pods may not reference secrets');
    expect({exitCode: accepted.exitCode, stderr: accepted.stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(envOf(testbed)).toMatchObject({COLOR: 'blue', PASS: SECRET});
  });
});

test("a plan shows placeholders for a Secret's values", async () => {
  const testbed = await createTestbed();
  const stdin = yamlStream(podWith(FROM_BOTH), configMap(), loginSecret);

  for (const format of ['text', 'json', 'yaml']) {
    const {stdout, stderr, exitCode} = await testbed.run(['plan', '-', '-o', format], {stdin});
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(stdout).toContain('<password of the Secret login>');
    expect(stdout).toContain('blue');
    expect(stdout).not.toContain(SECRET);
    expect(stdout).not.toContain(Buffer.from(SECRET).toString('base64'));
  }
});

describe('delete', () => {
  test('accepts the files of sync', async () => {
    const testbed = await createTestbed();
    const pod = await testbed.write('pod.yaml', podWith(FROM_BOTH));
    const beside = await testbed.write('objects.yaml', yamlStream(configMap(), loginSecret));
    await testbed.run(['sync', pod, beside]);

    const {exitCode, stdout, stderr} = await testbed.run(['delete', beside, pod]);

    expect({exitCode, stdout, stderr}).toEqual({
      exitCode: 0,
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
    });
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('reports a missing Pod in a file with ConfigMaps', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('settings.yaml', yamlStream(configMap()));

    const result = await testbed.run(['delete', file]);

    expectUserError(result);
    expect(result.stderr).toBe(
      `kcri: no Pod in "${file}"\nhint: only Pods can be deleted; kcri does not create objects of other kinds\n`,
    );
  });
});
