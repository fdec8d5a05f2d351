import {describe, expect, test} from 'vitest';
import {
  asKubeletConfiguration,
  milliseconds,
  readKubeletConfig,
  type KubeletConfig,
} from '../../../src/kubelet/kubelet-config/kubelet-config.js';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const read = (text = '', flags: Readonly<Record<string, readonly string[]>> = {}): KubeletConfig =>
  readKubeletConfig([{path: 'k.yaml', content: HEAD + text}], new Map(Object.entries(flags)));

test('without anything the defaults hold: a kubelet’s, but for where it listens, swap and who is let in', () => {
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

test('a file is taken over field by field, those of groups too', () => {
  const {values} = read(
    'syncFrequency: 90s\nclusterDNS: [10.96.0.10]\nauthentication: {x509: {clientCAFile: /ca}}\nlogging: {verbosity: 3}\n',
  );
  expect(milliseconds(values.syncFrequency)).toBe(90_000);
  expect(values.clusterDNS).toEqual(['10.96.0.10']);
  expect(values['authentication.x509.clientCAFile']).toBe('/ca');
  expect(values['logging.verbosity']).toBe(3);
});

test('a flag counts before a file, and gates of both are merged', () => {
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

test('a later file wins: maps grow together, lists are replaced', () => {
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

test('a relative path in a file is relative to the directory of the file, and one in a flag is not', () => {
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

test('gates that are not kcri’s have no effect, which is told', () => {
  const {unsupported} = read('featureGates: {EventedPLEG: true, ComponentFlagz: false, NodeSwap: false}\n', {
    'feature-gates': ['Other=true'],
  });
  expect(unsupported.map(({field}) => field)).toEqual(['featureGates.NodeSwap', 'featureGates.Other']);
});

test('what has no effect is told, unless it says what holds anyway', () => {
  const {unsupported, ignored} = read(
    'cpuManagerPolicy: static\ncpuManagerReconcilePeriod: 10000ms\nimageGCHighThresholdPercent: 85\nkubeAPIQPS: 5\nregisterNode: true\n',
  );
  expect(unsupported.map(({field}) => field)).toEqual(['cpuManagerPolicy']);
  expect(ignored).toEqual([{field: 'kubeAPIQPS', reason: 'there is no API server'}]);
});

describe('what is wrong is told with its place', () => {
  test.each([
    ['maxPod: 3\n', 'k.yaml:3:1: unknown field "maxPod", did you mean "maxPods"?'],
    [
      'authentication: {anonymous: {enable: true}}\n',
      'k.yaml:3:30: unknown field "authentication.anonymous.enable", did you mean "enabled"?',
    ],
    ['maxPods: many\n', 'k.yaml:3:10: maxPods: Invalid value: "many": must be an integer, not a string'],
    ['syncFrequency: 1x\n', 'k.yaml:3:16: syncFrequency: Invalid value: "1x": time: invalid duration "1x"'],
    [
      'syncFrequency: "10"\n',
      'k.yaml:3:16: syncFrequency: Invalid value: "10": time: missing unit in duration "10" (write "10s" for seconds)',
    ],
    ['containerLogMaxSize: big\n', 'k.yaml:3:22: containerLogMaxSize: Invalid value: "big": '],
    [
      'port: 0\n',
      'k.yaml:3:7: invalid configuration: port (--port) 0 must be between 1 and 65535, inclusive',
    ],
    [
      'maxPods: -1\n',
      'k.yaml:3:10: invalid configuration: maxPods (--max-pods) -1 must not be a negative number',
    ],
    [
      'authorization: {mode: Webhook}\n',
      'authorization.mode (--authorization-mode) "Webhook" is not possible: there is no API server to ask',
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

  test('another kind or version is none', () => {
    const other = [{path: 'k.yaml', content: 'apiVersion: v1\nkind: Pod\n'}];
    expect(() => readKubeletConfig(other, new Map())).toThrow(
      /k\.yaml:1:13: apiVersion: Unsupported value: "v1"[^]*k\.yaml:2:7: kind: Unsupported value: "Pod"/,
    );
  });

  test('of a flag with its name', () => {
    expect(() => read('', {'max-pods': ['x']})).toThrow(
      'invalid argument for "--max-pods" flag: not a whole number',
    );
    expect(() => read('', {'max-pods': ['-2']})).toThrow('invalid configuration: maxPods (--max-pods) -2');
  });
});

test('what lets the kubelet in elsewhere is not shown', () => {
  const text =
    'staticPodURL: https://me:hunter2@host/x\nstaticPodURLHeader: {Authorization: [Bearer hunter2]}\n';
  expect(asKubeletConfiguration(read(text).values)).toMatchObject({
    staticPodURL: 'https://me:***@host/x',
    staticPodURLHeader: {Authorization: ['<masked>']},
  });
});

test('the whole of it can be shown as a KubeletConfiguration, which says the same', () => {
  const text = 'maxPods: 5\nauthentication: {anonymous: {enabled: true}}\n';
  const shown = JSON.stringify(asKubeletConfiguration(read(text).values));
  const {values, unsupported} = readKubeletConfig([{path: 'shown', content: shown}], new Map());
  expect(values).toEqual(read(text).values);
  expect(unsupported).toEqual([]);
});
