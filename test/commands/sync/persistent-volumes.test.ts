import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {aContainerSpec, aManifest, createTestbed, expectUserError} from '../command-testbed.js';

const POD = aManifest({
  containers: [aContainerSpec('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
  volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}],
});

function aClaim(spec: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {name: 'data'},
    spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}, ...spec},
  });
}

function aVolume(source: object, spec: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {name: 'disk'},
    spec: {accessModes: ['ReadWriteOnce'], capacity: {storage: '1Gi'}, ...source, ...spec},
  });
}

const documents = (...texts: readonly string[]): string => texts.join('\n---\n');

test('a claim is bound to a hostPath volume of the manifests, which delete --volumes keeps', async () => {
  const testbed = await createTestbed();
  const path = join(testbed.directory, 'disk');
  await mkdir(path);
  await writeFile(join(path, 'kept'), 'text');
  const volume = aVolume({hostPath: {path, type: 'Directory'}});
  const file = await testbed.write('web.json', documents(POD, aClaim(), volume));
  expect(await testbed.run(['sync', file, '--strict'])).toMatchObject({exitCode: 0, stderr: ''});
  const mounts = testbed.runtime.containers.flatMap(({config}) => config.mounts);
  expect(mounts).toContainEqual(expect.objectContaining({containerPath: '/data', hostPath: path}));
  expect(await readdir(join(testbed.rootDir, 'claims')).catch(() => [])).toEqual([]);
  const {stdout} = await testbed.run(['delete', file, '--volumes']);
  expect(stdout).toBe('pod "default/web" deleted\n');
  expect(await readFile(join(path, 'kept'), 'utf8')).toBe('text');
});

test('a claim that no volume fits is a directory, and an unused volume has no effect', async () => {
  const testbed = await createTestbed();
  const volume = aVolume({csi: {driver: 'disk.example.com', volumeHandle: '1'}}, {storageClassName: 'fast'});
  const stdin = documents(POD, aClaim(), volume);
  expect(await testbed.run(['sync', '-'], {stdin})).toMatchObject({exitCode: 0, stderr: ''});
  expect(await readdir(join(testbed.rootDir, 'claims', 'default'))).toEqual(['data']);
});

test.each<[string, string, string, string]>([
  [
    'a claim of a missing volume',
    aClaim({volumeName: 'disc'}),
    aVolume({hostPath: {path: '/srv'}}),
    'spec.volumeName: Not found: "disc": no PersistentVolume of this name is in the manifests',
  ],
  [
    'a volume of a kind that nothing mounts',
    aClaim(),
    aVolume({rbd: {image: 'i', monitors: ['m']}}),
    'spec.rbd: Forbidden: not supported by kcri',
  ],
  ['a volume without a source', aClaim(), aVolume({}), 'spec: Required value: must specify a volume type'],
  [
    'a local volume without node affinity',
    aClaim(),
    aVolume({local: {path: '/srv'}}),
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  ],
  [
    'a claim without a size',
    aClaim({resources: {}}),
    aVolume({hostPath: {path: '/srv'}}),
    'spec.resources.requests[storage]: Required value',
  ],
])('%s is an error with its position', async (_title, claim, volume, message) => {
  const testbed = await createTestbed();
  const result = await testbed.run(['sync', '-'], {stdin: documents(POD, claim, volume)});
  expectUserError(result);
  expect(result.stderr).toContain(message);
  expect(result.stderr).toMatch(/stdin:[35]:\d+/);
  expect(testbed.mutatingCalls).toEqual([]);
});

test('a local volume of another node is not mounted', async () => {
  const testbed = await createTestbed();
  const required = {
    nodeSelectorTerms: [
      {matchExpressions: [{key: 'kubernetes.io/hostname', operator: 'In', values: ['elsewhere']}]},
    ],
  };
  const volume = aVolume({local: {path: testbed.directory}}, {nodeAffinity: {required}});
  const result = await testbed.run(['sync', '-'], {stdin: documents(POD, aClaim(), volume)});
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain('no matching NodeSelectorTerms');
  expect(result.stderr).toContain('label the node with --node-labels');
});
