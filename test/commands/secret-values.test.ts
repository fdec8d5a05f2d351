import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from './command-testbed.js';
import {aSecret, ECHOING_RUNTIME, expectNoSecret, readStoredState} from './secret-values.js';

/** Values that must not be shown: one of a Secret's key, one of a whole Secret, and one of a file in a volume. */
const VALUES = [
  'hunter2-of-the-key',
  'swordfish-of-the-whole',
  'correct "horse" of the file',
  'unused-in-the-file',
] as const;
const UID = '0b1c7a54-8a56-4b52-9d2d-7d6d0e6a1f10';

async function writeManifests(): Promise<{testbed: CommandTestbed; file: string}> {
  const testbed = await createTestbed(ECHOING_RUNTIME);
  const volume = join(testbed.rootDir, 'pods', UID, 'volumes/kubernetes.io~empty-dir/v');
  await mkdir(volume, {recursive: true});
  await writeFile(join(volume, 'a.env'), `A='${VALUES[2]}'\nB='${VALUES[3]}'\n`);
  const pod = aManifest({
    metadata: {uid: UID},
    restartPolicy: 'Never',
    volumes: [{name: 'v', emptyDir: {}}],
    containers: [
      aContainerSpec('main', {
        command: ['$(KEY)', '--', '$(FILE)', '$(BOTH)'],
        envFrom: [{secretRef: {name: 'all'}}],
        env: [
          {name: 'KEY', valueFrom: {secretKeyRef: {name: 'one', key: 'k'}}},
          {name: 'FILE', valueFrom: {fileKeyRef: {volumeName: 'v', path: 'a.env', key: 'A'}}},
          {name: 'BOTH', value: 'x-$(FILE)-$(WHOLE)'},
        ],
        volumeMounts: [{name: 'v', mountPath: '/v'}],
      }),
    ],
  });
  const documents = [pod, aSecret('one', {k: VALUES[0]}), aSecret('all', {WHOLE: VALUES[1]})];
  return {testbed, file: await testbed.write('pod.yaml', documents.join('\n---\n'))};
}

function expectNoSecrets(text: string): void {
  expectNoSecret(text, VALUES);
}

describe("if the runtime repeats a container's environment in its errors", () => {
  test.each([
    ['text', []],
    ['json', ['-o', 'json']],
    ['debug', ['-D']],
    ['debug, as json', ['-D', '-o', 'json']],
  ])('sync prints and records no secrets: %s', async (_, flags) => {
    const {testbed, file} = await writeManifests();
    const {stdout, stderr, exitCode} = await testbed.run(['sync', file, '--timeout', '10m', ...flags]);
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain('***');
    for (const text of [stdout, stderr, await readStoredState(testbed)]) expectNoSecrets(text);
  });

  test('later commands print no secrets', async () => {
    const {testbed, file} = await writeManifests();
    await testbed.run(['sync', file, '--timeout', '10m']);
    expect(testbed.runtime.containers[0]?.message).toContain(VALUES[0]);
    for (const words of [
      ['get', 'pods', '-o', 'json'],
      ['get', 'pods', '-o', 'wide'],
      ['describe', 'web'],
    ]) {
      const {stdout, stderr, exitCode} = await runKcri(['--root-dir', testbed.rootDir, ...words], {
        endpoint: testbed.runtime.endpoint,
      });
      expect({words, exitCode, stderr}).toEqual({words, exitCode: 0, stderr: ''});
      expectNoSecrets(stdout);
    }
    const again = await testbed.run(['sync', file, '-o', 'json', '--timeout', '10m']);
    expectNoSecrets(again.stdout + again.stderr + (await readStoredState(testbed)));
  });

  test('a plan of changes prints no secrets', async () => {
    const {testbed, file} = await writeManifests();
    await testbed.run(['sync', file, '--timeout', '10m']);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('"command":["$(KEY)"', '"command":["new","$(KEY)"'));
    for (const format of ['text', 'json', 'yaml']) {
      const {stdout, stderr, exitCode} = await testbed.run(['plan', file, '-o', format]);
      expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
      expectNoSecrets(stdout);
    }
  });
});
