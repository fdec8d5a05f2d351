import {honoured, ignored, notNegative, oneOf, unsupported} from './field.js';
import {BOOL, BOOL_MAP, DURATION, HEADERS, INT32, PATH, TEXT, TEXTS, ANYTHING} from './types.js';

const NO_CLUSTER = 'there is no API server';

/** Where pods come from, and how they are kept. */
export const SOURCE_FIELDS = {
  staticPodPath: honoured(PATH, '', {flag: 'pod-manifest-path'}),
  podLogsDir: honoured(TEXT, '/var/log/pods', {flag: 'pod-logs-dir', check: podLogsDirProblem}),
  syncFrequency: honoured(DURATION, '1m0s', {flag: 'sync-frequency', live: true}),
  fileCheckFrequency: honoured(DURATION, '20s', {flag: 'file-check-frequency', live: true}),
  httpCheckFrequency: honoured(DURATION, '20s', {flag: 'http-check-frequency', live: true}),
  staticPodURL: honoured(TEXT, '', {flag: 'manifest-url', check: urlProblem}),
  staticPodURLHeader: honoured(HEADERS, {}, {flag: 'manifest-url-header'}),
  containerRuntimeEndpoint: honoured(TEXT, '', {flag: 'container-runtime-endpoint'}),
  imageServiceEndpoint: honoured(TEXT, '', {flag: 'image-service-endpoint'}),
  runtimeRequestTimeout: honoured(DURATION, '2m0s', {flag: 'runtime-request-timeout'}),
  runOnce: ignored('it must be false in 1.36', BOOL, false, {
    flag: 'runonce',
    check: (value) =>
      value ? `${String(value)}, Runonce mode has been deprecated and should not be set` : undefined,
  }),
  featureGates: honoured(BOOL_MAP, {}, {flag: 'feature-gates'}),
  registerNode: ignored(NO_CLUSTER, BOOL, true, {flag: 'register-node'}),
  registerWithTaints: ignored(NO_CLUSTER, ANYTHING, undefined, {flag: 'register-with-taints'}),
  providerID: ignored(NO_CLUSTER, TEXT, '', {flag: 'provider-id'}),
  nodeStatusUpdateFrequency: ignored(NO_CLUSTER, DURATION, '10s', {flag: 'node-status-update-frequency'}),
  nodeStatusReportFrequency: ignored(NO_CLUSTER, DURATION, '5m0s'),
  nodeLeaseDurationSeconds: ignored(NO_CLUSTER, INT32, 40, {
    check: (value) => (value <= 0 ? 'must be greater than 0' : undefined),
  }),
  nodeStatusMaxImages: ignored(NO_CLUSTER, INT32, 50, {
    flag: 'node-status-max-images',
    check: (value) => (value < -1 ? `${value} must be -1 or greater` : undefined),
  }),
  contentType: ignored(NO_CLUSTER, TEXT, 'application/vnd.kubernetes.protobuf', {
    flag: 'kube-api-content-type',
  }),
  kubeAPIQPS: ignored(NO_CLUSTER, INT32, 50, {flag: 'kube-api-qps', check: notNegative}),
  kubeAPIBurst: ignored(NO_CLUSTER, INT32, 100, {flag: 'kube-api-burst', check: notNegative}),
  eventRecordQPS: ignored('events go to the log, which has no limit', INT32, 50, {
    flag: 'event-qps',
    check: notNegative,
  }),
  eventBurst: ignored('events go to the log, which has no limit', INT32, 100, {
    flag: 'event-burst',
    check: notNegative,
  }),
  configMapAndSecretChangeDetectionStrategy: ignored(
    'ConfigMaps and Secrets come with the manifests',
    TEXT,
    'Watch',
    {check: oneOf('Get', 'Cache', 'Watch')},
  ),
  enableControllerAttachDetach: ignored('no volumes are attached', BOOL, true, {
    flag: 'enable-controller-attach-detach',
  }),
  podCIDR: ignored("the runtime's network gives pods their addresses", TEXT, '', {flag: 'pod-cidr'}),
  volumePluginDir: unsupported(
    'there are no volume plugins',
    PATH,
    '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
    {
      flag: 'volume-plugin-dir',
    },
  ),
  volumeStatsAggPeriod: unsupported('the use of volumes is read when it is asked for', DURATION, '1m0s', {
    flag: 'volume-stats-agg-period',
  }),
  tracing: unsupported('traces are sent by commands only', ANYTHING, undefined),
  clusterDomain: honoured(TEXT, '', {flag: 'cluster-domain'}),
  clusterDNS: honoured(TEXTS, [], {flag: 'cluster-dns'}),
  resolvConf: honoured(PATH, '/etc/resolv.conf', {flag: 'resolv-conf'}),
  hairpinMode: ignored("the runtime's network decides", TEXT, 'promiscuous-bridge', {
    flag: 'hairpin-mode',
    check: oneOf('promiscuous-bridge', 'hairpin-veth', 'none'),
  }),
  makeIPTablesUtilChains: ignored('no other component looks for the hint', BOOL, true, {
    flag: 'make-iptables-util-chains',
  }),
  iptablesMasqueradeBit: ignored('it has no effect in 1.36 either', INT32, 14, {
    flag: 'iptables-masquerade-bit',
  }),
  iptablesDropBit: ignored('it has no effect in 1.36 either', INT32, 15, {flag: 'iptables-drop-bit'}),
};

function podLogsDirProblem(value: string): string | undefined {
  if (!value.startsWith('/')) return `${JSON.stringify(value)} must be absolute path`;
  return /\/\/|\/\.\.?(?:\/|$)/.test(value) ? `${JSON.stringify(value)} must be normalized` : undefined;
}

function urlProblem(value: string): string | undefined {
  const isUrl = value === '' || (/^https?:/i.test(value) && URL.canParse(value));
  return isUrl ? undefined : `${JSON.stringify(value)} must be a URL of http or https`;
}
