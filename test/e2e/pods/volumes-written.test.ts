import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {yamlStream} from '../../fakes/yaml-stream.js';
import {aContainer, aManifest, type ManifestFields} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const SECRET = 'correct-horse-battery-staple';

function aConfigMap(name: string, data: ManifestFields): ManifestFields {
  return {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name}, data};
}

function aSecret(name: string, stringData: ManifestFields): ManifestFields {
  return {apiVersion: 'v1', kind: 'Secret', metadata: {name}, stringData};
}

/** Returns a pod with a volume of every type that kcri writes. It has a fixed UID, so that its manifest may change. */
function aPod(name: string, labels: ManifestFields): string {
  const kinds = ['config', 'secret', 'downward', 'projected', 'empty'];
  const volumeMounts = [
    ...kinds.map((kind) => ({name: kind, mountPath: `/${kind}`})),
    {name: 'config', mountPath: '/part/color', subPath: 'color'},
  ];
  const resources = {limits: {memory: '64Mi'}};
  return aManifest(
    name,
    {
      securityContext: {fsGroup: 2345, runAsUser: 1000},
      containers: [aContainer('main', {volumeMounts, resources})],
      volumes: [
        {name: 'config', configMap: {name: 'settings'}},
        {name: 'secret', secret: {secretName: 'keys', defaultMode: 0o400}},
        {
          name: 'downward',
          downwardAPI: {
            items: [
              {path: 'labels', fieldRef: {fieldPath: 'metadata.labels'}},
              {path: 'in/memory', resourceFieldRef: {containerName: 'main', resource: 'limits.memory'}},
            ],
          },
        },
        {
          name: 'projected',
          projected: {
            defaultMode: 0o440,
            sources: [
              {configMap: {name: 'settings', items: [{key: 'color', path: 'both/color', mode: 0o444}]}},
              {secret: {name: 'keys', items: [{key: 'password', path: 'both/password'}]}},
              {downwardAPI: {items: [{path: 'name', fieldRef: {fieldPath: 'metadata.name'}}]}},
              {secret: {name: 'none', optional: true}},
            ],
          },
        },
        {name: 'empty', emptyDir: {}},
      ],
    },
    {uid: `uid-of-${name}`, labels},
  );
}

describe.each(newestRuntime)('written volumes: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  /**
   * Starts a pod and returns a function that runs a script in its container. Deletes the pod at the end of the test and
   * expects that nothing is left.
   */
  async function started(name: string, manifest: string): Promise<(script: string) => Promise<string>> {
    const {exitCode, stdout, stderr} = await testbed.sync(manifest);
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(stdout).not.toContain(SECRET);
    const pod = await testbed.pod(name);
    onTestFinished(async () => {
      await testbed.delete(name);
      expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
    });
    return (script) => testbed.exec(pod.containers[0]!.id, 'sh', '-c', script);
  }

  test('have the requested files, modes and owners, and are read-only for containers', async () => {
    const inside = await started(
      'vw-files',
      yamlStream(
        aConfigMap('settings', {color: 'red', 'app.conf': 'x = 1\n'}),
        aSecret('keys', {password: SECRET}),
        aPod('vw-files', {app: 'a'}),
      ),
    );
    expect(await inside('cat /config/color; echo; cat /config/app.conf /secret/password')).toBe(
      `red\nx = 1\n${SECRET}`,
    );
    expect(await inside('cat /downward/labels; echo; cat /downward/in/memory')).toBe('app="a"\n67108864');
    expect(await inside('cd /projected; cat both/color both/password name')).toBe(`red${SECRET}vw-files`);
    const files = ['/config/color', '/secret/password', '/downward/in/memory', '/projected/both/color'];
    expect(await inside(`stat -L -c "%a %u:%g" ${files.join(' ')} /projected/name`)).toBe(
      ['644 0:2345', '440 0:2345', '644 0:2345', '444 0:2345', '440 0:2345'].join('\n'),
    );
    const directories = ['/config', '/secret', '/secret/..data/', '/downward/in', '/empty'];
    expect(await inside(`stat -L -c "%a %g" ${directories.join(' ')}`)).toBe(
      ['2777 2345', '3777 2345', '2755 2345', '2755 2345', '2777 2345'].join('\n'),
    );
    expect(await inside('cd /config; readlink color; readlink ..data')).toMatch(
      /^\.\.data\/color\n\.\.\d{4}(_\d\d){5}\.\w+$/,
    );
    expect(
      await inside('awk \'$2 ~ "^/(config|secret|downward|projected)$" {print $2, $3}\' /proc/mounts'),
    ).toMatch(/^\/config (?!tmpfs)\w+\n\/secret tmpfs\n\/downward tmpfs\n\/projected tmpfs$/);
    for (const volume of ['config', 'secret', 'downward', 'projected'])
      await expect(inside(`touch /${volume}/new`)).rejects.toThrow('Read-only file system');
    expect(await inside('touch /empty/new; stat -c "%u:%g" /empty/new')).toBe('1000:2345');
  });

  test('updates reach a running container, but not sub-path mounts', async () => {
    const before = yamlStream(
      aConfigMap('settings', {color: 'red', gone: '1'}),
      aSecret('keys', {password: 'old'}),
      aPod('vw-update', {app: 'a'}),
    );
    const after = yamlStream(
      aConfigMap('settings', {color: 'blue', fresh: '2'}),
      aSecret('keys', {password: SECRET}),
      aPod('vw-update', {app: 'b'}),
    );
    const inside = await started('vw-update', before);
    const [version] = (await inside('readlink /config/..data')).split('\n');
    const unchanged = await testbed.sync(before);
    expect(unchanged.exitCode).toBe(0);
    expect(await inside('readlink /config/..data')).toBe(version);

    const plan = await testbed.runtime.kcri(['plan', '-'], {input: after});
    expect(plan.stdout).toContain('/kubernetes.io~secret/secret/password with mode 0440');
    expect(plan.stdout).not.toMatch(new RegExp(SECRET));
    expect(plan.stdout).not.toContain('CreateContainer');
    expect(await inside('cat /secret/password')).toBe('old');

    const {exitCode, stderr} = await testbed.sync(after);
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(await inside('ls /config; cat /config/color /projected/both/color')).toBe(
      'color\nfresh\nblueblue',
    );
    expect(await inside('cat /secret/password; cat /downward/labels')).toBe(`${SECRET}app="b"`);
    expect(await inside('stat -L -c "%a %g" /secret/password')).toBe('440 2345');
    expect(await inside('cat /part/color')).toBe('red');
    expect(await inside('ls -d /config/..2* | wc -l')).toBe('1');
  });

  test.each([
    ['object', {secret: {secretName: 'none'}}, 'secret "none" not found'],
    [
      'key',
      {configMap: {name: 'settings', items: [{key: 'nope', path: 'x'}]}},
      'configmap references non-existent config key: nope',
    ],
  ])('a missing %s prevents the start of a new pod, and nothing is left', async (_title, source, reason) => {
    const manifest = yamlStream(
      aConfigMap('settings', {color: 'red'}),
      aManifest('vw-missing', {
        containers: [aContainer('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
        volumes: [{name: 'v', ...source}],
      }),
    );
    const {exitCode, stderr} = await testbed.sync(manifest);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`MountVolume.SetUp failed for volume "v" : ${reason}`);
    expect(await testbed.find('vw-missing')).toBeUndefined();
  });
});
