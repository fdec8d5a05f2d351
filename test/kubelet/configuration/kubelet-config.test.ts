import {ALIAS_BOMBS} from '../../api/decoding/alias-bombs.js';
import {describe, expect, test} from 'vitest';
import {
  toKubeletConfiguration,
  durationToMs,
  readKubeletConfig,
  type KubeletConfig,
} from '../../../src/kubelet/configuration/kubelet-config.js';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const read = (text = '', flags: Readonly<Record<string, readonly string[]>> = {}): KubeletConfig =>
  readKubeletConfig([{path: 'k.yaml', content: HEAD + text}], new Map(Object.entries(flags)));

test('the defaults equal those of a kubelet except for address, swap and anonymous access', () => {
  const {values, unsupported, ignored} = read();
  expect(values).toMatchObject({
    syncFrequency: '1m0s',
    fileCheckFrequency: '20s',
    address: '127.0.0.1',
    port: 10250,
    readOnlyPort: 0,
    healthzPort: 10248,
    maxPods: 110,
    podPidsLimit: -1,
    registryPullQPS: 5,
    containerLogMaxSize: '10Mi',
    'authentication.anonymous.enabled': false,
    'authorization.mode': 'AlwaysAllow',
    failSwapOn: false,
  });
  expect([...unsupported, ...ignored]).toEqual([]);
});

test('a file sets fields, including nested ones', () => {
  const {values} = read(
    'syncFrequency: 90s\nclusterDNS: [10.96.0.10]\nauthentication: {x509: {clientCAFile: /ca}}\nlogging: {verbosity: 3}\n',
  );
  expect(durationToMs(values.syncFrequency)).toBe(90_000);
  expect(values.clusterDNS).toEqual(['10.96.0.10']);
  expect(values['authentication.x509.clientCAFile']).toBe('/ca');
  expect(values['logging.verbosity']).toBe(3);
});

test('the fields of another kind of file are not quoted', () => {
  const content = 'root:*:1:0:::\ndaemon:*:1:0:::\n';
  expect(() => readKubeletConfig([{path: 'k.yaml', content}], new Map())).toThrow(
    /^(?!.*daemon)[^]*apiVersion: Unsupported value/,
  );
});

test('flags override files, and feature gates are merged', () => {
  const {values} = read(
    'maxPods: 20\nfeatureGates: {A: true, B: true}\nevictionHard: {memory.available: 1Gi}\n',
    {
      'max-pods': ['30'],
      'feature-gates': ['B=false,EventedPLEG=false'],
      'cluster-dns': ['192.0.2.1,192.0.2.2', '192.0.2.3'],
      'eviction-hard': ['nodefs.available<10%'],
      'manifest-url-header': ['A:b', 'A:c'],
    },
  );
  expect(values.maxPods).toBe(30);
  expect(values.featureGates).toEqual({A: true, B: false, EventedPLEG: false});
  expect(values.clusterDNS).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
  expect(values.evictionHard).toEqual({'nodefs.available': '10%'});
  expect(values.staticPodURLHeader).toEqual({A: ['b', 'c']});
});

test('later files override earlier ones: maps are merged, lists are replaced', () => {
  const files = [
    'clusterDNS: [a]\nkubeReserved: {cpu: 1}\n',
    'clusterDNS: [b]\nkubeReserved: {memory: 1Gi}\n',
  ];
  const texts = files.map((text, index) => ({
    path: `${index}.conf`,
    content: HEAD + text.replace('cpu: 1', 'cpu: "1"'),
  }));
  const {values} = readKubeletConfig(texts, new Map());
  expect(values.clusterDNS).toEqual(['b']);
  expect(values.kubeReserved).toEqual({cpu: '1', memory: '1Gi'});
});

test('relative paths in a file are resolved against its directory, those in flags are not', () => {
  const text = `${HEAD}staticPodPath: manifests\nresolvConf: ""\ntlsCertFile: ../tls.crt\n`;
  const {values} = readKubeletConfig(
    [{path: '/etc/kcri/k.yaml', content: text}],
    new Map([['tls-private-key-file', ['tls.key']]]),
  );
  expect(values).toMatchObject({
    staticPodPath: '/etc/kcri/manifests',
    resolvConf: '',
    tlsCertFile: '/etc/tls.crt',
    tlsPrivateKeyFile: 'tls.key',
  });
});

test('unknown feature gates are reported as not supported', () => {
  const {unsupported} = read('featureGates: {EventedPLEG: true, ComponentFlagz: false, Unknown: false}\n', {
    'feature-gates': ['Other=true'],
  });
  expect(unsupported.map(({field}) => field)).toEqual(['featureGates.Unknown', 'featureGates.Other']);
});

test('fields without effect are reported unless they have the default value', () => {
  const {unsupported, ignored} = read(
    'serverTLSBootstrap: true\ndraManagerReconcilePeriod: 60s\nimageGCHighThresholdPercent: 85\ncontentType: a/b\nregisterNode: true\n',
  );
  expect(unsupported.map(({field}) => field)).toEqual(['serverTLSBootstrap']);
  expect(ignored).toEqual([{field: 'contentType', reason: 'requests to the API server are in JSON'}]);
});

describe('an invalid configuration is reported with its position', () => {
  test.each([
    ['maxPod: 3\n', 'k.yaml:3:1: unknown field "maxPod", did you mean "maxPods"?'],
    [
      'authentication: {anonymous: {enable: true}}\n',
      'k.yaml:3:30: unknown field "authentication.anonymous.enable", did you mean "enabled"?',
    ],
    ['maxPods: many\n', 'k.yaml:3:10: maxPods: Invalid value: "many": must be an integer, not a string'],
    [
      'userNamespaces: {idsPerPod: 65537}\n',
      'invalid configuration: userNamespaces.idsPerPod must be a multiple of 65536',
    ],
    ['tlsCurvePreferences: [23, 23]\n', 'duplicate curve preference 23'],
    [
      'syncFrequency: 1x\n',
      'k.yaml:3:16: syncFrequency: Invalid value: "1x": time: unknown unit "x" in duration "1x"',
    ],
    [
      'syncFrequency: "10"\n',
      'k.yaml:3:16: syncFrequency: Invalid value: "10": time: missing unit in duration "10" (write "10s" for seconds)',
    ],
    ['containerLogMaxSize: big\n', 'k.yaml:3:22: containerLogMaxSize: Invalid value: "big": '],
    [
      'port: -1\n',
      'k.yaml:3:7: invalid configuration: port (--port) -1 must be between 1 and 65535, inclusive',
    ],
    [
      'maxPods: -1\n',
      'k.yaml:3:10: invalid configuration: maxPods (--max-pods) -1 must not be a negative number',
    ],
    [
      'authorization: {mode: Webhook}\n',
      'authorization.mode (--authorization-mode) "Webhook" is not supported: it requires an API server',
    ],
    [
      'crashLoopBackOff: {maxContainerRestartPeriod: 10m}\n',
      '(got: 600 seconds) must be set between 1s and 300s',
    ],
    [
      'imageGCLowThresholdPercent: 90\n',
      'invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) 90 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 85',
    ],
    [
      'serializeImagePulls: true\nmaxParallelImagePulls: 3\n',
      'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls',
    ],
    ['a: [\n', 'k.yaml:'],
  ])('%s', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test('another kind or version is invalid', () => {
    const other = [{path: 'k.yaml', content: 'apiVersion: v1\nkind: Pod\n'}];
    expect(() => readKubeletConfig(other, new Map())).toThrow(
      /k\.yaml:1:13: apiVersion: Unsupported value: "v1"[^]*k\.yaml:2:7: kind: Unsupported value: "Pod"/,
    );
  });

  test('an invalid flag is reported with its name', () => {
    expect(() => read('', {'max-pods': ['x']})).toThrow(
      'invalid argument "x" for "--max-pods" flag: must be an integer',
    );
    expect(() => read('', {'max-pods': ['-2']})).toThrow('invalid configuration: maxPods (--max-pods) -2');
  });
});

test.each(Object.entries(ALIAS_BOMBS))('an alias bomb is an error: %s', (_what, bomb) => {
  expect(() => read(bomb)).toThrow(/nested too deeply|excessive aliasing/);
  expect(() => read(`tracing:\n${bomb.replace(/^/gm, '  ')}`)).toThrow(
    /nested too deeply|excessive aliasing/,
  );
});

test('credentials are masked', () => {
  const text =
    'staticPodURL: https://me:hunter2@host/x?token=hunter2\nstaticPodURLHeader: {Authorization: [Bearer hunter2]}\n';
  expect(toKubeletConfiguration(read(text).values)).toMatchObject({
    staticPodURL: 'https://me:***@host/x?token=***',
    staticPodURLHeader: {Authorization: ['<masked>']},
  });
});

test.each([
  ['a URL', 'staticPodURL: htps://me:hunter2@host/x?token=hunter2\n', {}],
  ['a URL in a flag', '', {'manifest-url': ['htps://hunter2@host/x?hunter2']}],
  ['a header', 'staticPodURLHeader: {Authorization: Bearer hunter2}\n', {}],
  ['a header beside a syntax error', 'staticPodURLHeader: {Authorization: ["Bearer hunter2"}\n', {}],
  ['a header in several lines', 'staticPodURLHeader:\n  Authorization:\n    hunter2\nmaxPods: 1\n', {}],
  ['a header in a flag', '', {'manifest-url-header': ['Bearer hunter2']}],
] as const)('the error of an invalid configuration masks the credentials of %s', (_what, text, flags) => {
  expect(() => read(text, flags)).toThrow(/invalid|must|not closed/);
  expect(() => read(text, flags)).not.toThrow(/hunter2/);
});

test('/configz has the fields that Go does not omit', () => {
  const shown = toKubeletConfiguration(read('podsPerCore: 0\nrunOnce: false\nregisterNode: false\n').values);
  expect(shown).toMatchObject({
    ...{registerNode: false, failCgroupV1: false, enableSystemLogQuery: false, imageMaximumGCAge: '0s'},
    ...{memorySwap: {}, authentication: {x509: {}}},
  });
  const omitted = [
    'podsPerCore',
    'runOnce',
    'tlsMinVersion',
    'featureGates',
    'registerWithTaints',
    'staticPodURL',
    'tracing',
  ];
  expect(Object.keys(shown).filter((name) => omitted.includes(name))).toEqual([]);
});

test('the configuration can be converted to a KubeletConfiguration and back', () => {
  const text = 'maxPods: 5\nauthentication: {anonymous: {enabled: true}}\n';
  const content = JSON.stringify(toKubeletConfiguration(read(text).values));
  const {values, unsupported} = readKubeletConfig([{path: 'configz', content}], new Map());
  expect(values).toEqual(read(text).values);
  expect(unsupported).toEqual([]);
});

test('with an API server, reviews are the default and Webhook is valid', () => {
  const {values, unsupported, ignored} = readKubeletConfig(
    [{path: 'k.yaml', content: `${HEAD}authorization: {webhook: {cacheAuthorizedTTL: 1m}}\n`}],
    new Map([['authorization-mode', ['Webhook']]]),
    {joinsCluster: true},
  );
  expect(values).toMatchObject({
    'authentication.webhook.enabled': true,
    'authentication.anonymous.enabled': false,
    'authorization.mode': 'Webhook',
    address: '0.0.0.0',
  });
  expect([...unsupported, ...ignored]).toEqual([]);
});
