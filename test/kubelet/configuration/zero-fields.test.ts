import {expect, test} from 'vitest';
import {
  CONFIG_FIELDS,
  CONFIG_PATHS,
  type ConfigPath,
} from '../../../src/kubelet/configuration/fields-and-defaults/kubelet-config-defaults.js';
import {readKubeletConfig, type KubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';
import {KUBEADM_CONFIG} from './kubeadm-config.js';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const read = (
  text: string,
  joinsCluster = false,
  flags: Readonly<Record<string, string>> = {},
): KubeletConfig =>
  readKubeletConfig(
    [{path: 'k.yaml', content: text.startsWith('apiVersion') ? text : HEAD + text}],
    new Map(Object.entries(flags).map(([name, value]) => [name, [value]])),
    {joinsCluster},
  );

/** Returns a file that sets a field to a JSON value. */
const fileWith = (path: string, value: string): string =>
  path
    .split('.')
    .reduceRight((inner, name) => `{"${name}": ${inner}}`, value)
    .slice(1, -1);

/** Zero of each type of field in Go, as JSON. */
const ZEROS: Readonly<Record<string, string>> = {
  string: '""',
  quantity: '""',
  int32: '0',
  int64: '0',
  float64: '0',
  duration: '"0s"',
  boolean: 'false',
};

/**
 * Fields that a kubelet defaults when they are zero, with the default (SetDefaults_KubeletConfiguration of 1.36, where
 * kcri's own default does not differ). All others are pointers, lists or maps, or zero by default.
 */
const DEFAULTED: Readonly<Partial<Record<ConfigPath, string | number>>> = {
  syncFrequency: '1m0s',
  fileCheckFrequency: '20s',
  httpCheckFrequency: '20s',
  address: '127.0.0.1',
  port: 10_250,
  'authentication.webhook.cacheTTL': '2m0s',
  'authorization.mode': 'AlwaysAllow',
  'authorization.webhook.cacheAuthorizedTTL': '5m0s',
  'authorization.webhook.cacheUnauthorizedTTL': '30s',
  registryBurst: 10,
  imagePullCredentialsVerificationPolicy: 'NeverVerifyPreloadedImages',
  eventBurst: 100,
  healthzBindAddress: '127.0.0.1',
  streamingConnectionIdleTimeout: '4h0m0s',
  nodeStatusUpdateFrequency: '10s',
  nodeStatusReportFrequency: '5m0s',
  nodeLeaseDurationSeconds: 40,
  imageMinimumGCAge: '2m0s',
  volumeStatsAggPeriod: '1m0s',
  cpuManagerPolicy: 'none',
  cpuManagerReconcilePeriod: '10s',
  draManagerReconcilePeriod: '1m0s',
  memoryManagerPolicy: 'None',
  topologyManagerPolicy: 'none',
  topologyManagerScope: 'container',
  runtimeRequestTimeout: '2m0s',
  hairpinMode: 'promiscuous-bridge',
  maxPods: 110,
  maxOpenFiles: 1_000_000,
  contentType: 'application/vnd.kubernetes.protobuf',
  kubeAPIBurst: 100,
  evictionPressureTransitionPeriod: '5m0s',
  containerLogMaxSize: '10Mi',
  configMapAndSecretChangeDetectionStrategy: 'Watch',
  volumePluginDir: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
  memoryReservationPolicy: 'None',
  podLogsDir: '/var/log/pods',
  'logging.format': 'text',
  'logging.flushFrequency': '5s',
};

/** Fields that are pointers in Go: an explicit zero is a value, which is sometimes invalid. */
const POINTERS: readonly ConfigPath[] = [
  ...(['registryPullQPS', 'eventRecordQPS', 'kubeAPIQPS', 'healthzPort', 'oomScoreAdj'] as const),
  ...(['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent', 'podPidsLimit', 'resolvConf'] as const),
  ...(['cpuCFSQuotaPeriod', 'nodeStatusMaxImages', 'maxParallelImagePulls', 'iptablesDropBit'] as const),
  ...(['iptablesMasqueradeBit', 'containerLogMaxFiles', 'containerLogMaxWorkers'] as const),
  ...(['containerLogMonitorInterval', 'crashLoopBackOff.maxContainerRestartPeriod'] as const),
  ...(['memoryThrottlingFactor', 'userNamespaces.idsPerPod'] as const),
];

const zeroOf = (path: ConfigPath): string | undefined =>
  path === 'logging.flushFrequency' ? '0' : ZEROS[CONFIG_FIELDS[path].type.name.replace('*', '')];

/** Returns the value of the field in a file with zero, or the error. */
function zeroed(path: ConfigPath): unknown {
  try {
    const {values, unsupported, ignored} = read(fileWith(path, zeroOf(path) ?? 'null'));
    return Object.hasOwn(DEFAULTED, path)
      ? {value: values[path], reported: [...unsupported, ...ignored]}
      : values[path];
  } catch (error) {
    return (error as Error).message;
  }
}

test.each(CONFIG_PATHS.filter((path) => Object.hasOwn(DEFAULTED, path)))(
  'zero in %s means the default, which is not reported as a setting without effect',
  (path) => {
    expect(zeroed(path)).toEqual({value: DEFAULTED[path], reported: []});
  },
);

test.each(POINTERS)('an explicit zero in %s is a value', (path) => {
  const zero = zeroOf(path) ?? '';
  const outcome = zeroed(path);
  const isRejected = typeof outcome === 'string' && outcome.includes('invalid configuration: ');
  expect(isRejected ? 'rejected' : outcome).toEqual(isRejected ? 'rejected' : JSON.parse(zero));
  expect(outcome).not.toEqual(read('').values[path]);
});

test.each(CONFIG_PATHS.filter((path) => zeroOf(path) !== undefined))('zero in %s is decided on', (path) => {
  const isZeroByDefault = [undefined, 0, '', false, '0s'].includes(CONFIG_FIELDS[path].default as '');
  const isBooleanPointer = CONFIG_FIELDS[path].default === true;
  expect(
    [Object.hasOwn(DEFAULTED, path), POINTERS.includes(path), isZeroByDefault || isBooleanPointer].includes(
      true,
    ),
  ).toBe(true);
  const rejected = expect.stringContaining('invalid configuration: ') as string;
  if (isBooleanPointer) expect([false, rejected]).toContainEqual(zeroed(path));
});

test.each(CONFIG_PATHS)('null in %s is the same as a missing field', (path) => {
  expect(read(fileWith(path, 'null')).values).toEqual(read('').values);
});

test('with an API server zero means the defaults that apply there', () => {
  const {values} = read('address: ""\nauthorization: {mode: ""}\n', true);
  expect(values).toMatchObject({address: '0.0.0.0', 'authorization.mode': 'Webhook'});
});

test('empty structs have the defaults of their fields', () => {
  const text =
    'authentication: {}\nauthorization: {webhook: {}}\ncrashLoopBackOff: {}\nmemorySwap: {}\nlogging: {options: {text: {}}}\nuserNamespaces: {}\n';
  expect(read(text).values).toEqual({...read('').values});
});

test('a later file with zero brings the default back', () => {
  const files = ['syncFrequency: 5s\nmaxPods: 3\n', 'syncFrequency: 0s\nmaxPods: 0\n'];
  const {values} = readKubeletConfig(
    files.map((text, index) => ({path: `${index}.conf`, content: HEAD + text})),
    new Map(),
  );
  expect(values).toMatchObject({syncFrequency: '1m0s', maxPods: 110});
});

test('zero in a flag is a value', () => {
  const flags = {'registry-burst': '0', 'sync-frequency': '0'};
  expect(read('', false, flags).values).toMatchObject({registryBurst: 0, syncFrequency: '0'});
  expect(() => read('', false, {port: '0'})).toThrow('port (--port) 0 must be between 1 and 65535');
});

test.each([
  ['nodeStatusUpdateFrequency: 1m\n', {}, '1m'],
  ['nodeStatusUpdateFrequency: 1m\nnodeStatusReportFrequency: 0s\n', {}, '1m'],
  ['nodeStatusUpdateFrequency: 0s\n', {}, '5m0s'],
  ['nodeStatusUpdateFrequency: 1m\nnodeStatusReportFrequency: 2m\n', {}, '2m'],
  ['', {'node-status-update-frequency': '1m'}, '5m0s'],
])('%j with the flags %j reports the status of the node every %s', (text, flags, expected) => {
  expect(read(text, true, flags).values.nodeStatusReportFrequency).toBe(expected);
});

test("the file that kubeadm writes is valid, has the kubelet's periods, and no zero in it is reported", () => {
  const {values, unsupported, ignored} = read(KUBEADM_CONFIG, true);
  const set = {
    staticPodPath: '/etc/kubernetes/manifests',
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    cgroupDriver: 'systemd',
    rotateCertificates: true,
    'authentication.x509.clientCAFile': '/etc/kubernetes/pki/ca.crt',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  };
  expect(values).toEqual({...read('', true).values, ...set});
  expect([...unsupported, ...ignored]).toEqual([]);
});
