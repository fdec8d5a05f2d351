import {readdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {ApiObject} from '../../../src/api/v1-objects.js';
import type {Pod} from '../../../src/api/v1.js';
import type {ConfigMapVolumeSource, DownwardAPIVolumeFile, Volume} from '../../../src/api/v1-volumes.js';
import {apiObjects, type ApiObjects} from '../../../src/kubelet/container/api-objects.js';
import type {Payload} from '../../../src/kubelet/volumes/atomic-writer.js';
import {configMapPayload} from '../../../src/kubelet/volumes/config-map.js';
import {downwardApiPayload} from '../../../src/kubelet/volumes/downward-api.js';
import {systemMounter, unmountBelow} from '../../../src/kubelet/volumes/mounts.js';
import {projectedPayload} from '../../../src/kubelet/volumes/projected.js';
import {secretPayload} from '../../../src/kubelet/volumes/secret.js';
import {mountVolumes, planVolumes} from '../../../src/kubelet/volumes/volume-manager.js';
import type {VolumeFacts} from '../../../src/kubelet/volumes/volume-plugin.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aHost, aPodWith} from './a-pod.js';

const MI = 1024n * 1024n;
const FACTS = {cpuMilli: 2000n, memoryBytes: 1124n * MI, ephemeralStorageBytes: 1000n * MI};

function aConfigMap(
  data: Readonly<Record<string, string>>,
  binary: Readonly<Record<string, string>> = {},
): ApiObject {
  const bytes = Object.entries(binary).map(([key, text]) => [key, Buffer.from(text)]);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'settings', namespace: 'default'},
    data,
    binaryData: Object.fromEntries(bytes) as Record<string, Uint8Array>,
  };
}

function aSecret(data: Readonly<Record<string, string>>): ApiObject {
  const bytes = Object.entries(data).map(([key, text]) => [key, Buffer.from(text)]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'keys', namespace: 'default'},
    data: Object.fromEntries(bytes) as Record<string, Uint8Array>,
  };
}

function objects(...all: readonly ApiObject[]): ApiObjects {
  return apiObjects(all, ['pod.yaml']);
}

const OBJECTS = objects(
  aConfigMap({a: '1', b: '2'}, {bytes: '\xff'}),
  aSecret({password: 'hunter2', user: 'me'}),
);

/** `content mode` by path. */
function shown(payload: Payload): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...payload].map(([path, {data, mode}]) => [path, `${data.toString()} ${mode.toString(8)}`]),
  );
}

describe('a configMap volume holds', () => {
  const payload = (source: ConfigMapVolumeSource, from = OBJECTS): Readonly<Record<string, string>> =>
    shown(configMapPayload({objects: from}, {pod: aPodWith([]), source: {name: 'settings', ...source}}));

  test.each<[string, ConfigMapVolumeSource, Readonly<Record<string, string>>]>([
    ['all keys, texts and bytes', {}, {a: '1 644', b: '2 644', bytes: '\xff 644'}],
    [
      'all keys with the mode that is the default',
      {defaultMode: 0o400},
      {a: '1 400', b: '2 400', bytes: '\xff 400'},
    ],
    [
      'only the items when there are some, with their own modes',
      {
        items: [
          {key: 'a', path: 'in/x', mode: 0o600},
          {key: 'bytes', path: 'y'},
        ],
      },
      {'in/x': '1 600', y: '\xff 644'},
    ],
    [
      'one key twice',
      {
        items: [
          {key: 'a', path: 'x'},
          {key: 'a', path: 'y'},
        ],
      },
      {x: '1 644', y: '1 644'},
    ],
    [
      'what there is of optional items',
      {
        optional: true,
        items: [
          {key: 'c', path: 'c'},
          {key: 'b', path: 'b'},
        ],
      },
      {b: '2 644'},
    ],
    ['nothing when it is optional and not there', {name: 'other', optional: true}, {}],
    [
      'nothing when it is optional and not there, with items',
      {name: 'other', optional: true, items: [{key: 'a', path: 'a'}]},
      {},
    ],
  ])('%s', (_title, source, expected) => {
    expect(payload(source)).toEqual(expected);
  });

  test('nothing of a ConfigMap without data', () => {
    expect(payload({}, objects(aConfigMap({})))).toEqual({});
  });

  test.each<[string, ConfigMapVolumeSource, string]>([
    ['an object that is not there', {name: 'other'}, 'configmap "other" not found'],
    [
      'a key that is not there',
      {items: [{key: 'c', path: 'c'}]},
      'configmap references non-existent config key: c',
    ],
    [
      'a key of every object in JavaScript',
      {items: [{key: 'toString', path: 'c'}]},
      'configmap references non-existent config key: toString',
    ],
  ])('an error for %s', (_title, source, message) => {
    expect(() => payload(source)).toThrow(message);
  });

  test('an error for a key that says of which object', () => {
    const source = {name: 'settings', items: [{key: 'c', path: 'c'}]};
    expect(() => configMapPayload({objects: OBJECTS}, {pod: aPodWith([]), source})).toThrow(
      expect.objectContaining({
        hint: 'the ConfigMap "default/settings" has no such key: add it, name another one, or set optional: true to go without',
      }),
    );
  });

  test('an error for an object of another namespace', () => {
    const pod = aPodWith([]);
    const elsewhere: Pod = {...pod, metadata: {...pod.metadata, namespace: 'other'}};
    expect(() => configMapPayload({objects: OBJECTS}, {pod: elsewhere, source: {name: 'settings'}})).toThrow(
      'configmap "settings" not found',
    );
  });
});

describe('a secret volume holds', () => {
  const payload = (source: object): Readonly<Record<string, string>> =>
    shown(secretPayload({objects: OBJECTS}, {pod: aPodWith([]), source: {secretName: 'keys', ...source}}));

  test.each([
    ['all keys', {}, {password: 'hunter2 644', user: 'me 644'}],
    ['items', {defaultMode: 0o440, items: [{key: 'user', path: 'u'}]}, {u: 'me 440'}],
    ['nothing when it is optional and not there', {secretName: 'other', optional: true}, {}],
  ])('%s', (_title, source, expected) => {
    expect(payload(source)).toEqual(expected);
  });

  test.each([
    ['an object that is not there', {secretName: 'other'}, 'secret "other" not found'],
    ['a key that is not there', {items: [{key: 'k', path: 'k'}]}, 'references non-existent secret key: k'],
  ])('an error for %s, without any value', (_title, source, message) => {
    expect(() => payload(source)).toThrow(message);
    expect(() => payload(source)).not.toThrow('hunter2');
  });
});

describe('a downwardAPI volume holds', () => {
  const pod: Pod = {
    ...aPodWith([], {
      containers: [
        {name: 'main', image: 'i', resources: {limits: {cpu: '250m'}, requests: {memory: '1536Ki'}}},
        {name: 'free', image: 'i'},
      ],
    }),
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'u1',
      labels: {b: '2', a: '1'},
      annotations: {note: 'say "hi"', lines: 'b\na\nc'},
    },
  };
  const host = aHost({rootDir: '/none', ...FACTS});
  const field = (fieldPath: string): Partial<DownwardAPIVolumeFile> => ({fieldRef: {fieldPath}});
  const resource = (
    containerName: string,
    name: string,
    divisor?: string,
  ): Partial<DownwardAPIVolumeFile> => ({
    resourceFieldRef: {containerName, resource: name, ...(divisor === undefined ? {} : {divisor})},
  });
  const text = (item: Partial<DownwardAPIVolumeFile>): string | undefined =>
    downwardApiPayload(host, {pod, source: {items: [{path: 'f', ...item}]}})
      .get('f')
      ?.data.toString();

  test.each<[string, Partial<DownwardAPIVolumeFile>, string]>([
    ['the name', field('metadata.name'), 'web'],
    ['the UID', field('metadata.uid'), 'u1'],
    ['the labels, by key', field('metadata.labels'), 'a="1"\nb="2"'],
    ['the annotations, quoted', field('metadata.annotations'), 'lines="b\\na\\nc"\nnote="say \\"hi\\""'],
    ['one label', field("metadata.labels['a']"), '1'],
    ['an annotation that is not there', field("metadata.annotations['none']"), ''],
    ['the lines of an annotation, sorted', field("metadata.annotations['lines']"), 'a\nb\nc'],
    ['a limit, rounded up to whole CPUs', resource('main', 'limits.cpu'), '1'],
    ['a limit in thousandths', resource('main', 'limits.cpu', '1m'), '250'],
    ['a request in mebibytes, rounded up', resource('main', 'requests.memory', '1Mi'), '2'],
    ['the node for a container without a limit', resource('free', 'limits.memory', '1Mi'), '1024'],
    ['no request', resource('free', 'requests.cpu'), '0'],
  ])('%s', (_title, item, expected) => {
    expect(text(item)).toBe(expected);
  });

  test('its own mode or that of the volume for each file', () => {
    const items = [
      {path: './a', ...field('metadata.name')},
      {path: 'b/c', mode: 0o444, ...field('metadata.uid')},
    ];
    expect(shown(downwardApiPayload(host, {pod, source: {defaultMode: 0o400, items}}))).toEqual({
      a: 'web 400',
      'b/c': 'u1 444',
    });
    expect(downwardApiPayload(host, {pod, source: {}}).size).toBe(0);
  });

  test('an error for every container that is not there', () => {
    const source = {
      items: [
        {path: 'a', ...resource('x', 'limits.cpu')},
        {path: 'b', ...resource('y', 'limits.cpu')},
      ],
    };
    expect(() => downwardApiPayload(host, {pod, source})).toThrow(
      '[container x not found, container y not found]',
    );
  });
});

describe('a projected volume holds', () => {
  const host = aHost({rootDir: '/none', ...FACTS}, OBJECTS);
  const name: DownwardAPIVolumeFile = {path: 'pod/name', fieldRef: {fieldPath: 'metadata.name'}};

  test('all its sources with one default mode; of two files of one path the later', () => {
    const source = {
      defaultMode: 0o440,
      sources: [
        {
          configMap: {
            name: 'settings',
            items: [
              {key: 'a', path: 'x'},
              {key: 'b', path: 'y', mode: 0o600},
            ],
          },
        },
        {secret: {name: 'keys', items: [{key: 'user', path: 'x'}]}},
        {downwardAPI: {items: [name]}},
        {secret: {name: 'other', optional: true}},
      ],
    };
    expect(shown(projectedPayload(host, {pod: aPodWith([]), source}))).toEqual({
      x: 'me 440',
      y: '2 600',
      'pod/name': 'web 440',
    });
  });

  test('one error for one source, and all of several in one', () => {
    const payload =
      (...names: readonly string[]) =>
      () =>
        projectedPayload(host, {
          pod: aPodWith([]),
          source: {sources: names.map((secret) => ({secret: {name: secret}}))},
        });
    expect(payload('keys', 'x')).toThrow(/^secret "x" not found$/);
    expect(payload('x', 'y', 'x')).toThrow('[secret "x" not found, secret "y" not found]');
  });
});

/** Only root can mount a tmpfs and give files away. */
describe.skipIf(process.getuid?.() !== 0)('on the node (needs root)', () => {
  const signal = new AbortController().signal;
  const VOLUMES: readonly Volume[] = [
    {name: 'c', configMap: {name: 'settings', items: [{key: 'a', path: 'a'}]}},
    {name: 's', secret: {secretName: 'keys', defaultMode: 0o400}},
    {name: 'd', downwardAPI: {items: [{path: 'name', fieldRef: {fieldPath: 'metadata.name'}}]}},
    {name: 'p', projected: {sources: [{secret: {name: 'keys'}}]}},
  ];

  async function aNode(): Promise<VolumeFacts> {
    const rootDir = join(await temporaryDirectory(), 'root');
    onTestFinished(async () => {
      await unmountBelow(rootDir);
    });
    return {rootDir, ...FACTS};
  }

  const dir = ({rootDir}: VolumeFacts, plugin: string, name: string): string =>
    `${rootDir}/pods/u1/volumes/kubernetes.io~${plugin}/${name}`;

  async function owner(path: string): Promise<string> {
    const {uid, gid, mode} = await stat(path);
    return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`;
  }

  test('each kind has its directory, is only read by containers, and is in memory but for configMaps', async () => {
    const node = await aNode();
    const mounted = await mountVolumes(aPodWith(VOLUMES), aHost(node, OBJECTS), signal);
    expect([...mounted]).toEqual([
      ['c', {hostPath: dir(node, 'configmap', 'c'), readOnly: true}],
      ['s', {hostPath: dir(node, 'secret', 's'), readOnly: true}],
      ['d', {hostPath: dir(node, 'downward-api', 'd'), readOnly: true}],
      ['p', {hostPath: dir(node, 'projected', 'p'), readOnly: true}],
    ]);
    const mounts = (await systemMounter.list()).filter(({path}) => path.startsWith(node.rootDir));
    expect(mounts.map(({path, fileSystem}) => `${fileSystem} ${path}`).sort()).toEqual([
      `tmpfs ${dir(node, 'downward-api', 'd')}`,
      `tmpfs ${dir(node, 'projected', 'p')}`,
      `tmpfs ${dir(node, 'secret', 's')}`,
    ]);
    expect(await readFile(join(dir(node, 'secret', 's'), 'password'), 'utf8')).toBe('hunter2');
    expect(await owner(join(dir(node, 'secret', 's'), 'password'))).toBe('0:0 400');
    expect((await readdir(`${node.rootDir}/pods/u1/plugins/kubernetes.io~empty-dir`)).sort()).toEqual([
      'wrapped_c',
      'wrapped_d',
      'wrapped_p',
      'wrapped_s',
    ]);
  });

  test("everything belongs to the pod's fsGroup, which may read it, also after an update", async () => {
    const node = await aNode();
    const pod = aPodWith([...VOLUMES, {name: 'e', emptyDir: {}}], {securityContext: {fsGroup: 2000}});
    const secret = dir(node, 'secret', 's');
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    expect(await owner(secret)).toBe('0:2000 3777');
    expect(await owner(join(secret, '..data'))).toBe('0:2000 2755');
    expect(await owner(join(secret, 'password'))).toBe('0:2000 440');
    expect(await owner(join(dir(node, 'configmap', 'c'), 'a'))).toBe('0:2000 644');
    expect(await owner(dir(node, 'configmap', 'c'))).toBe('0:2000 2777');
    expect(await owner(dir(node, 'empty-dir', 'e'))).toBe('0:2000 2777');
    await mountVolumes(pod, aHost(node, objects(aConfigMap({a: '1'}), aSecret({password: 'new'}))), signal);
    expect(await owner(join(secret, 'password'))).toBe('0:2000 440');
    expect(await owner(join(secret, '..data'))).toBe('0:2000 2755');
  });

  test('contents follow what they are made from; what has not changed is left', async () => {
    const node = await aNode();
    const pod = aPodWith(VOLUMES);
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    const before = await stat(join(dir(node, 'configmap', 'c'), '..data'));
    const renamed: Pod = {...pod, metadata: {...pod.metadata, name: 'renamed'}};
    await mountVolumes(
      renamed,
      aHost(node, objects(aConfigMap({a: '1', b: 'x'}), aSecret({token: 't'}))),
      signal,
    );
    expect(await readFile(join(dir(node, 'downward-api', 'd'), 'name'), 'utf8')).toBe('renamed');
    const names = await readdir(dir(node, 'secret', 's'));
    expect(names.filter((name) => !name.startsWith('..'))).toEqual(['token']);
    expect((await stat(join(dir(node, 'configmap', 'c'), '..data'))).ino).toBe(before.ino);
  });

  test('an object that is gone fails in the words of the FailedMount event, and the files stay', async () => {
    const node = await aNode();
    const pod = aPodWith(VOLUMES);
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    await expect(mountVolumes(pod, aHost(node, objects()), signal)).rejects.toMatchObject({
      message: 'MountVolume.SetUp failed for volume "c" : configmap "settings" not found',
      hint: expect.stringContaining('the ConfigMap "default/settings"') as string,
    });
    expect(await readFile(join(dir(node, 'configmap', 'c'), 'a'), 'utf8')).toBe('1');
  });

  test('what can not be written is not even begun', async () => {
    const node = await aNode();
    const pod = aPodWith([{name: 's', secret: {secretName: 'none'}}]);
    await expect(mountVolumes(pod, aHost(node, OBJECTS), signal)).rejects.toThrow('secret "none" not found');
    await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
  });

  test('a volume in which another one is mounted has the mount point', async () => {
    const node = await aNode();
    const volumeMounts = [
      {name: 's', mountPath: '/etc/keys'},
      {name: 'e', mountPath: '/etc/keys/run/data'},
    ];
    const pod = aPodWith([{name: 's', secret: {secretName: 'keys'}}, {name: 'e'}], {
      containers: [{name: 'main', image: 'i', volumeMounts}],
    });
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    expect(await owner(join(dir(node, 'secret', 's'), 'run/data'))).toBe('0:0 755');
  });

  test('a plan names the files that a mount would write, with their modes, and makes nothing', async () => {
    const node = await aNode();
    const pod = aPodWith(VOLUMES, {securityContext: {fsGroup: 2000}});
    const host = aHost(node, OBJECTS);
    const {files} = await planVolumes(pod, host);
    expect(files.map(({path, mode}) => `${path} ${mode.toString(8)}`)).toEqual([
      `${dir(node, 'configmap', 'c')}/a 644`,
      `${dir(node, 'secret', 's')}/password 440`,
      `${dir(node, 'secret', 's')}/user 440`,
      `${dir(node, 'downward-api', 'd')}/name 644`,
      `${dir(node, 'projected', 'p')}/password 644`,
      `${dir(node, 'projected', 'p')}/user 644`,
    ]);
    expect(JSON.stringify(files)).not.toContain('hunter2');
    await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
    await mountVolumes(pod, host, signal);
    expect((await planVolumes(pod, host)).files).toEqual([]);
    const changed = aHost(node, objects(aConfigMap({a: '2'}), aSecret({password: 'hunter2', user: 'me'})));
    expect((await planVolumes(pod, changed)).files).toEqual([
      {path: `${dir(node, 'configmap', 'c')}/a`, mode: 0o644},
    ]);
  });
});
