import {access} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';

const VALUE = 'correct-horse-battery-staple';

/** Writes a pod with a secret volume, and its Secret. */
async function aManifestFile(testbed: CommandTestbed, volume: object = {}): Promise<string> {
  const secret = {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'keys'}, stringData: {password: VALUE}};
  const pod = aManifest({
    containers: [aContainerSpec('main', {volumeMounts: [{name: 's', mountPath: '/s'}]})],
    volumes: [{name: 's', secret: {secretName: 'keys', defaultMode: 0o400, ...volume}}],
  });
  return await testbed.write('pod.yaml', `${JSON.stringify(secret)}\n---\n${pod}`);
}

// Proves: SecretVolumeSource.defaultMode
test.each([
  ['text', /^ {2}writes file \S+\/volumes\/kubernetes\.io~secret\/s\/password with mode 0400$/m],
  ['json', /"path": "\S+\/kubernetes\.io~secret\/s\/password",\s+"mode": "0400"/],
  ['yaml', /path: \S+\/kubernetes\.io~secret\/s\/password\s+mode: "0400"/],
])(
  'a plan in %s lists the files of volumes without their contents, and writes none',
  async (output, expected) => {
    const testbed = await createTestbed();
    const {stdout, stderr, exitCode} = await testbed.run([
      'plan',
      await aManifestFile(testbed),
      '-o',
      output,
    ]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(expected);
    for (const form of [VALUE, Buffer.from(VALUE).toString('base64')]) expect(stdout).not.toContain(form);
    const [path = ''] = /\/\S+\/password/.exec(stdout) ?? [];
    await expect(access(path)).rejects.toThrow('ENOENT');
  },
);

// Proves: SecretVolumeSource.items
test('a plan fails for missing volume sources, like the sync', async () => {
  const testbed = await createTestbed();
  const file = await aManifestFile(testbed, {items: [{key: 'user', path: 'user'}]});
  const {stderr, exitCode} = await testbed.run(['plan', file]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    'FailedMount: MountVolume.SetUp failed for volume "s" : references non-existent secret key: user',
  );
  expect(stderr).toContain('hint: add the key to the Secret "default/keys"');
  expect(stderr).not.toContain(VALUE);
});

/** A pod with a claim and a generic ephemeral volume of a class, and the class. */
function provisionedManifest(storageClass: string): string {
  const spec = {
    ...{storageClassName: 'disks', accessModes: ['ReadWriteOnce']},
    resources: {requests: {storage: '1Mi'}},
  };
  const documents = [
    {
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: storageClass}},
      provisioner: 'disk.example.com',
    },
    {apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'data'}, spec},
  ];
  const pod = aManifest({
    containers: [
      aContainerSpec('main', {
        volumeMounts: [
          {name: 'data', mountPath: '/data'},
          {name: 'own', mountPath: '/own'},
        ],
      }),
    ],
    volumes: [
      {name: 'data', persistentVolumeClaim: {claimName: 'data'}},
      {name: 'own', ephemeral: {volumeClaimTemplate: {spec}}},
    ],
  });
  return [...documents.map((document) => JSON.stringify(document)), pod].join('\n---\n');
}

test('volumes that a CSI driver would be asked for are planned without it', async () => {
  const testbed = await createTestbed();
  const file = await testbed.write('pod.yaml', provisionedManifest('disks'));
  const {stdout, stderr, exitCode} = await testbed.run(['plan', file, '-o', 'json']);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout.match(/"host_path": "[^"]*\/kubernetes\.io~csi\/pvc-UUID\/mount"/g)).toHaveLength(2);
});

test('a plan fails for a claim whose class is missing, like the sync', async () => {
  const testbed = await createTestbed();
  const file = await testbed.write('pod.yaml', provisionedManifest('other'));
  const {stderr, exitCode} = await testbed.run(['plan', file]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('storageclass.storage.k8s.io "disks" not found');
});
