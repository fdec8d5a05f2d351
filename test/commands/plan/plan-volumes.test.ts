import {access} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {aContainerSpec, aManifest, aScene, type PodScene} from '../pod-scene.js';

const VALUE = 'correct-horse-battery-staple';

/** A pod with a secret volume, and its Secret. */
async function aManifestFile(scene: PodScene, volume: object = {}): Promise<string> {
  const secret = {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'keys'}, stringData: {password: VALUE}};
  const pod = aManifest({
    containers: [aContainerSpec('main', {volumeMounts: [{name: 's', mountPath: '/s'}]})],
    volumes: [{name: 's', secret: {secretName: 'keys', defaultMode: 0o400, ...volume}}],
  });
  return await scene.write('pod.yaml', `${JSON.stringify(secret)}\n---\n${pod}`);
}

test.each([
  ['text', /^ {2}writes file \S+\/volumes\/kubernetes\.io~secret\/s\/password with mode 0400$/m],
  ['json', /"path": "\S+\/kubernetes\.io~secret\/s\/password",\s+"mode": "0400"/],
  ['yaml', /path: \S+\/kubernetes\.io~secret\/s\/password\s+mode: "0400"/],
])(
  'a plan in %s names the files of volumes without what is in them, and writes none',
  async (output, expected) => {
    const scene = await aScene();
    const {stdout, stderr, exitCode} = await scene.run(['plan', await aManifestFile(scene), '-o', output]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(expected);
    for (const form of [VALUE, Buffer.from(VALUE).toString('base64')]) expect(stdout).not.toContain(form);
    const [path = ''] = /\/\S+\/password/.exec(stdout) ?? [];
    await expect(access(path)).rejects.toThrow('ENOENT');
  },
);

test('a plan fails for what a volume lacks, as the sync would', async () => {
  const scene = await aScene();
  const file = await aManifestFile(scene, {items: [{key: 'user', path: 'user'}]});
  const {stderr, exitCode} = await scene.run(['plan', file]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    'FailedMount: MountVolume.SetUp failed for volume "s" : references non-existent secret key: user',
  );
  expect(stderr).toContain('hint: add the key to the Secret "default/keys"');
  expect(stderr).not.toContain(VALUE);
});
