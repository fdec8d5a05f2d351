import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {yamlStream} from '../../fakes/yaml-stream.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const SETTINGS = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'settings'},
  data: {COLOR: 'blue', 'with.dot': 'x', REF: '$(COLOR)'},
};
const LOGIN = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name: 'login'},
  data: {lines: Buffer.from('a\nb').toString('base64')},
  stringData: {password: 'hunter 2 "ö"'},
};
const RUNC = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: {name: 'usual'},
  handler: 'runc',
  overhead: {podFixed: {cpu: '100m'}},
};

describe.each(newestRuntime)('objects that pods refer to: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  /** Returns the environment of the container's main process, byte by byte. */
  async function environ(name: string): Promise<Record<string, string>> {
    const {containers} = await testbed.pod(name);
    const id = containers.find(({metadata}) => metadata?.name === 'main')!.id;
    const {stdout} = await testbed.runtime.connection.runtime.execSync({
      containerId: id,
      cmd: ['cat', '/proc/1/environ'],
      timeout: 10n,
    });
    const entries = Buffer.from(stdout).toString('latin1').split('\0').filter(Boolean);
    const variables = entries.map((entry): [string, string] => {
      const [name = ''] = entry.split('=', 1);
      return [name, entry.slice(name.length + 1)];
    });
    return Object.fromEntries(variables);
  }

  async function deleted(name: string): Promise<void> {
    const {uid} = await testbed.pod(name);
    await testbed.delete(name);
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  }

  test('a container has variables from ConfigMaps and Secrets, in a pod with a RuntimeClass', async () => {
    const container = aContainer('main', {
      envFrom: [
        {prefix: 'CM_', configMapRef: {name: 'settings'}},
        {secretRef: {name: 'none', optional: true}},
      ],
      env: [
        {name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'login', key: 'password'}}},
        {name: 'LINES', valueFrom: {secretKeyRef: {name: 'login', key: 'lines'}}},
        {name: 'REF', valueFrom: {configMapKeyRef: {name: 'settings', key: 'REF'}}},
        {name: 'URL', value: 'db://me:$(PASSWORD)@$(CM_COLOR)'},
      ],
    });
    const pod = aManifest('refs', {containers: [container], runtimeClassName: 'usual'});

    const {exitCode, stdout, stderr} = await testbed.sync(yamlStream(SETTINGS, pod, LOGIN, RUNC), ['-D']);

    expect(exitCode).toBe(0);
    expect(`${stdout}${stderr}`).not.toMatch(/hunter|aHVudGVy/);
    const password = Buffer.from('hunter 2 "ö"').toString('latin1');
    expect(await environ('refs')).toMatchObject({
      CM_COLOR: 'blue',
      'CM_with.dot': 'x',
      CM_REF: '$(COLOR)',
      PASSWORD: password,
      LINES: 'a\nb',
      REF: '$(COLOR)',
      URL: `db://me:${password}@blue`,
    });
    const {sandboxes} = await testbed.pod('refs');
    expect(sandboxes[0]?.runtimeHandler).toBe('runc');
    await deleted('refs');
  });

  test('a container has variables from a file that another one has written', async () => {
    const volumeMounts = [{name: 'shared', mountPath: '/shared'}];
    const script = `mkdir /shared/d; printf "# by the init container\\nA='one\\n two'\\nB='b' # b\\n" > /shared/d/a.env; ln -s d/a.env /shared/link`;
    const fileKeyRef = {volumeName: 'shared', path: 'link', key: 'A'};
    const pod = aManifest('refs-file', {
      volumes: [{name: 'shared', emptyDir: {}}],
      initContainers: [aContainer('write', {command: shellCommand(script), volumeMounts})],
      containers: [
        aContainer('main', {
          env: [
            {name: 'FIRST', valueFrom: {fileKeyRef}},
            {name: 'SECOND', valueFrom: {fileKeyRef: {...fileKeyRef, path: 'd/a.env', key: 'B'}}},
            {name: 'THIRD', valueFrom: {fileKeyRef: {...fileKeyRef, key: 'C', optional: true}}},
          ],
        }),
      ],
    });

    const {exitCode, stderr} = await testbed.sync(pod);

    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    const variables = await environ('refs-file');
    expect(variables).toMatchObject({FIRST: 'one\n two', SECOND: 'b'});
    expect(variables).not.toHaveProperty('THIRD');
    await deleted('refs-file');
  });

  test('a container cannot read files of the node by creating links', async () => {
    const precious = join(await temporaryDirectory(), 'precious.env');
    await writeFile(precious, "A='precious'\n");
    const pod = aManifest('refs-hostile', {
      volumes: [{name: 'shared', emptyDir: {}}],
      initContainers: [
        aContainer('plant', {
          command: shellCommand(`ln -s ${precious} /shared/a.env`),
          volumeMounts: [{name: 'shared', mountPath: '/shared'}],
        }),
      ],
      containers: [
        aContainer('main', {
          env: [{name: 'A', valueFrom: {fileKeyRef: {volumeName: 'shared', path: 'a.env', key: 'A'}}}],
        }),
      ],
    });

    const {exitCode, stdout, stderr} = await testbed.sync(pod, ['-o', 'json']);

    expect(exitCode).toBe(1);
    expect(stdout).toContain('"reason":"CreateContainerConfigError","message":"couldn\'t parse env file"');
    expect(stderr).toContain('leads out of');
    expect(`${stdout}${stderr}`).not.toContain("A='precious'");
    expect(await testbed.find('refs-hostile')).toBeUndefined();
  });
});
