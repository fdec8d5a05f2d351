import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../../src/api/types/v1-pod.js';
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  VolumeProjection,
  VolumeSource,
} from '../../../../../src/api/types/v1-volumes.js';
import type {Payload} from '../../../../../src/kubelet/managers/volumes/atomic-writer.js';
import {configMapPayload} from '../../../../../src/kubelet/managers/volumes/plugins/config-map.js';
import {downwardApiPayload} from '../../../../../src/kubelet/managers/volumes/plugins/downward-api.js';
import {projectedPayload} from '../../../../../src/kubelet/managers/volumes/plugins/projected.js';
import {secretPayload} from '../../../../../src/kubelet/managers/volumes/plugins/secret.js';
import {aContainer} from '../../../../fakes/a-pod.js';
import {aHost, aPodWith} from '../volume-fixtures.js';
import {aConfigMap, objects, OBJECTS} from '../object-fixtures.js';

const MI = 1024n * 1024n;
const FACTS = {
  ...{cpuMilli: 2000n, memoryBytes: 1124n * MI, ephemeralStorageBytes: 1000n * MI},
  hugePageBytes: new Map(),
};

/** Formats a payload as `content mode` by path. */
function formatPayload(payload: Payload): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...payload].map(([path, {data, mode}]) => [path, `${data.toString()} ${mode.toString(8)}`]),
  );
}

/** Creates a volume source, and a pod with a volume of it. */
function of<Kind extends keyof VolumeSource>(
  kind: Kind,
  source: Required<VolumeSource>[Kind],
  spec: Partial<PodSpec> = {},
): {readonly pod: Pod; readonly source: Required<VolumeSource>[Kind]} {
  return {pod: aPodWith([{name: 'v', [kind]: source}], spec), source};
}

describe('a configMap volume', () => {
  const payload = (source: ConfigMapVolumeSource, from = OBJECTS): Readonly<Record<string, string>> =>
    formatPayload(configMapPayload({objects: from}, of('configMap', {name: 'settings', ...source})));

  test.each<[string, ConfigMapVolumeSource, Readonly<Record<string, string>>]>([
    ['has all keys of data and binaryData', {}, {a: '1 644', b: '2 644', bytes: '\xff 644'}],
    ['has all keys with the default mode', {defaultMode: 0o400}, {a: '1 400', b: '2 400', bytes: '\xff 400'}],
    [
      'has only the items if there are any, with their modes',
      {
        items: [
          {key: 'a', path: 'in/x', mode: 0o600},
          {key: 'bytes', path: 'y'},
        ],
      },
      {'in/x': '1 600', y: '\xff 644'},
    ],
    [
      'has a key under two paths',
      {
        items: [
          {key: 'a', path: 'x'},
          {key: 'a', path: 'y'},
        ],
      },
      {x: '1 644', y: '1 644'},
    ],
    [
      'has the existing keys of optional items',
      {
        optional: true,
        items: [
          {key: 'c', path: 'c'},
          {key: 'b', path: 'b'},
        ],
      },
      {b: '2 644'},
    ],
    ['is empty if an optional ConfigMap is missing', {name: 'other', optional: true}, {}],
    [
      'is empty if an optional ConfigMap with items is missing',
      {name: 'other', optional: true, items: [{key: 'a', path: 'a'}]},
      {},
    ],
  ])('%s', (_title, source, expected) => {
    expect(payload(source)).toEqual(expected);
  });

  test('is empty for a ConfigMap without data', () => {
    expect(payload({}, objects(aConfigMap({})))).toEqual({});
  });

  test.each<[string, ConfigMapVolumeSource, string]>([
    ['a missing ConfigMap', {name: 'other'}, 'configmap "other" not found'],
    ['a missing key', {items: [{key: 'c', path: 'c'}]}, 'configmap references non-existent config key: c'],
    [
      'a key that every JavaScript object inherits',
      {items: [{key: 'toString', path: 'c'}]},
      'configmap references non-existent config key: toString',
    ],
  ])('rejects %s', (_title, source, message) => {
    expect(() => payload(source)).toThrow(message);
  });

  test('has a hint with the name of the ConfigMap for a missing key', () => {
    const source = {name: 'settings', items: [{key: 'c', path: 'c'}]};
    expect(() => configMapPayload({objects: OBJECTS}, {pod: aPodWith([]), source})).toThrow(
      expect.objectContaining({
        hint: 'add the key to the ConfigMap "default/settings", use an existing key, or set optional: true',
      }),
    );
  });

  test('rejects a ConfigMap of another namespace', () => {
    const pod = aPodWith([]);
    const otherPod: Pod = {...pod, metadata: {...pod.metadata, namespace: 'other'}};
    expect(() => configMapPayload({objects: OBJECTS}, {pod: otherPod, source: {name: 'settings'}})).toThrow(
      'configmap "settings" not found',
    );
  });
});

describe('a secret volume', () => {
  const payload = (source: object): Readonly<Record<string, string>> =>
    formatPayload(secretPayload({objects: OBJECTS}, of('secret', {secretName: 'keys', ...source})));

  test.each([
    ['has all keys', {}, {password: 'hunter2 644', user: 'me 644'}],
    ['has the items', {defaultMode: 0o440, items: [{key: 'user', path: 'u'}]}, {u: 'me 440'}],
    ['is empty if an optional Secret is missing', {secretName: 'other', optional: true}, {}],
  ])('%s', (_title, source, expected) => {
    expect(payload(source)).toEqual(expected);
  });

  test.each([
    ['a missing Secret', {secretName: 'other'}, 'secret "other" not found'],
    ['a missing key', {items: [{key: 'k', path: 'k'}]}, 'references non-existent secret key: k'],
  ])('rejects %s without revealing a value', (_title, source, message) => {
    expect(() => payload(source)).toThrow(message);
    expect(() => payload(source)).not.toThrow('hunter2');
  });
});

describe('a downwardAPI volume', () => {
  const metadata = {
    name: 'web',
    namespace: 'default',
    uid: 'u1',
    labels: {b: '2', a: '1'},
    annotations: {note: 'say "hi"', lines: 'b\na\nc'},
  };
  const containers = [
    {name: 'main', image: 'i', resources: {limits: {cpu: '250m'}, requests: {memory: '1536Ki'}}},
    {name: 'free', image: 'i'},
  ];
  const host = aHost({rootDir: '/none', ...FACTS});
  const field = (fieldPath: string): Partial<DownwardAPIVolumeFile> => ({
    fieldRef: {apiVersion: 'v1', fieldPath},
  });
  const payload = (downwardAPI: DownwardAPIVolumeSource): Payload => {
    const resources = {limits: {memory: '512Mi'}};
    const {pod, source} = of('downwardAPI', downwardAPI, {containers, resources});
    return downwardApiPayload(host, {pod: {...pod, metadata}, source});
  };
  const resource = (
    containerName: string,
    name: string,
    divisor?: string,
  ): Partial<DownwardAPIVolumeFile> => ({
    resourceFieldRef: {containerName, resource: name, ...(divisor === undefined ? {} : {divisor})},
  });
  const text = (item: Partial<DownwardAPIVolumeFile>): string | undefined =>
    payload({items: [{path: 'f', ...item}]})
      .get('f')
      ?.data.toString();

  test.each<[string, Partial<DownwardAPIVolumeFile>, string]>([
    ['has the name', field('metadata.name'), 'web'],
    ['has the UID', field('metadata.uid'), 'u1'],
    ['has the labels, sorted by key', field('metadata.labels'), 'a="1"\nb="2"'],
    ['has the annotations, quoted', field('metadata.annotations'), 'lines="b\\na\\nc"\nnote="say \\"hi\\""'],
    ['has one label', field("metadata.labels['a']"), '1'],
    ['has an empty file for a missing annotation', field("metadata.annotations['none']"), ''],
    ['has a multiline annotation', field("metadata.annotations['lines']"), 'b\na\nc'],
    ['has a limit, rounded up to whole CPUs', resource('main', 'limits.cpu'), '1'],
    ['has a limit in millicores', resource('main', 'limits.cpu', '1m'), '250'],
    ['has a request in mebibytes, rounded up', resource('main', 'requests.memory', '1Mi'), '2'],
    [
      'has the node allocatable, not the limit of the pod, for a container without a limit',
      resource('free', 'limits.memory', '1Mi'),
      '1024',
    ],
    ['has 0 for a missing request', resource('free', 'requests.cpu'), '0'],
  ])('%s', (_title, item, expected) => {
    expect(text(item)).toBe(expected);
  });

  test('has the mode of each file or the default mode', () => {
    const items = [
      {path: './a', ...field('metadata.name')},
      {path: 'b/c', mode: 0o444, ...field('metadata.uid')},
    ];
    expect(formatPayload(payload({defaultMode: 0o400, items}))).toEqual({
      a: 'web 400',
      'b/c': 'u1 444',
    });
    expect(payload({}).size).toBe(0);
  });

  test('rejects all missing containers together', () => {
    const source = {
      items: [
        {path: 'a', ...resource('x', 'limits.cpu')},
        {path: 'b', ...resource('y', 'limits.cpu')},
      ],
    };
    expect(() => payload(source)).toThrow('[container x not found, container y not found]');
  });
});

/** Returns containers that run as these users, by name. */
function userOf(users: Readonly<Record<string, number | undefined>>): Partial<PodSpec> {
  const containers = Object.entries(users).map(([name, runAsUser]) =>
    aContainer({name, ...(runAsUser !== undefined && {securityContext: {runAsUser}})}),
  );
  return {containers};
}

describe('a projected volume', () => {
  const host = aHost({rootDir: '/none', ...FACTS}, OBJECTS);
  const name: DownwardAPIVolumeFile = {path: 'pod/name', fieldRef: {fieldPath: 'metadata.name'}};

  test('has the files of all sources with one default mode; of two files with one path the later wins', () => {
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
        {configMap: {name: 'other', optional: true}},
      ],
    };
    expect(formatPayload(projectedPayload(host, of('projected', source)))).toEqual({
      x: 'me 440',
      y: '2 600',
      'pod/name': 'web 440',
    });
  });

  test.each<[string, Partial<PodSpec>, object]>([
    ['without users', {}, {mode: 0o644, owner: undefined}],
    ['with an fsGroup', {securityContext: {fsGroup: 5}}, {mode: 0o600, owner: undefined}],
    ['with a user of the pod', {securityContext: {runAsUser: 7}}, {mode: 0o600, owner: 7}],
    ['with a user of one container', userOf({main: 7, other: undefined}), {mode: 0o644, owner: undefined}],
    ['with one user of all containers', userOf({main: 7, other: 7}), {mode: 0o600, owner: 7}],
    ['with different users', userOf({main: 7, other: 8}), {mode: 0o644, owner: undefined}],
  ])('has a token %s that others can only read if its users are unknown', (_, spec, expected) => {
    const tokens = {...OBJECTS, serviceAccountToken: () => 'secret'};
    const source = {sources: [{serviceAccountToken: {path: 'token'}}]};
    const payload = projectedPayload(
      aHost({rootDir: '/none', ...FACTS}, tokens),
      of('projected', source, spec),
    );
    expect(payload.get('token')).toMatchObject({data: Buffer.from('secret'), ...expected});
  });

  test('has no files of a source that an API server left empty', () => {
    const payloadOf = (sources: readonly VolumeProjection[]): Payload =>
      projectedPayload(host, of('projected', {sources}));
    const keys = {secret: {name: 'keys'}};
    expect(payloadOf([keys]).size).toBeGreaterThan(0);
    expect(payloadOf([{}, keys])).toEqual(payloadOf([keys]));
    expect(payloadOf([{}])).toEqual(new Map());
  });

  test('has one error for one failed source, and a list for several', () => {
    const payload =
      (...names: readonly string[]) =>
      () =>
        projectedPayload(host, of('projected', {sources: names.map((secret) => ({secret: {name: secret}}))}));
    expect(payload('keys', 'x')).toThrow(/^secret "x" not found$/);
    expect(payload('x', 'y', 'x')).toThrow('[secret "x" not found, secret "y" not found]');
  });
});
