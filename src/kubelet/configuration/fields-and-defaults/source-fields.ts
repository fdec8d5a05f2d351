import {redactUrlText} from '../../../format/redact-url.js';
import {DEFAULT_VOLUME_PLUGIN_DIR} from '../../contract/node-facts.js';
import {between, honored, honoredInCluster, ignored, notNegative, oneOf} from '../config-field.js';
import {
  BOOL,
  BOOL_MAP,
  DURATION,
  HEADERS,
  INT32,
  TAINTS,
  PATH,
  TEXT,
  TEXTS,
  URL_TEXT,
  pointer,
} from '../config-field-types.js';

/** Fields for pod sources, the runtime, the network and the API server; the latter only apply with --kubeconfig. */
export const SOURCE_FIELDS = {
  staticPodPath: honored(PATH, '', {flag: 'pod-manifest-path'}),
  podLogsDir: honored(TEXT, '/var/log/pods', {flag: 'pod-logs-dir', check: podLogsDirProblem}),
  syncFrequency: honored(DURATION, '1m0s', {flag: 'sync-frequency', live: true}),
  fileCheckFrequency: honored(DURATION, '20s', {flag: 'file-check-frequency', live: true}),
  httpCheckFrequency: honored(DURATION, '20s', {flag: 'http-check-frequency', live: true}),
  staticPodURL: honored(URL_TEXT, '', {flag: 'manifest-url', check: urlProblem}),
  staticPodURLHeader: honored(HEADERS, {}, {flag: 'manifest-url-header'}),
  containerRuntimeEndpoint: honored(TEXT, '', {flag: 'container-runtime-endpoint'}),
  imageServiceEndpoint: honored(TEXT, '', {flag: 'image-service-endpoint'}),
  runtimeRequestTimeout: honored(DURATION, '2m0s', {flag: 'runtime-request-timeout'}),
  runOnce: ignored('it must be false in Kubernetes 1.36', BOOL, false, {
    flag: 'runonce',
    check: (value) =>
      value ? `${String(value)}, Runonce mode has been deprecated and should not be set` : undefined,
  }),
  featureGates: honored(BOOL_MAP, {}, {flag: 'feature-gates'}),
  registerNode: honored(BOOL, true, {flag: 'register-node'}),
  registerWithTaints: honored(TAINTS, [], {flag: 'register-with-taints', check: taintsProblem}),
  providerID: honored(TEXT, '', {flag: 'provider-id'}),
  nodeStatusUpdateFrequency: honored(DURATION, '10s', {flag: 'node-status-update-frequency'}),
  nodeStatusReportFrequency: honored(DURATION, '5m0s', {follows: 'nodeStatusUpdateFrequency'}),
  nodeLeaseDurationSeconds: honored(INT32, 40, {
    check: (value) => (value <= 0 ? 'must be greater than 0' : undefined),
  }),
  nodeStatusMaxImages: honored(pointer(INT32), 50, {
    flag: 'node-status-max-images',
    check: (value) => (value < -1 ? `${value} must be -1 or greater` : undefined),
  }),
  contentType: ignored(
    'requests to the API server are in JSON',
    TEXT,
    'application/vnd.kubernetes.protobuf',
    {
      flag: 'kube-api-content-type',
    },
  ),
  kubeAPIQPS: honored(pointer(INT32), 50, {flag: 'kube-api-qps', check: notNegative}),
  kubeAPIBurst: honored(INT32, 100, {flag: 'kube-api-burst', check: notNegative}),
  eventRecordQPS: honored(pointer(INT32), 50, {
    flag: 'event-qps',
    check: notNegative,
  }),
  eventBurst: honored(INT32, 100, {
    flag: 'event-burst',
    check: notNegative,
  }),
  configMapAndSecretChangeDetectionStrategy: honoredInCluster(
    ignored('ConfigMaps and Secrets are read from the manifests when a pod is synced', TEXT, 'Watch', {
      check: oneOf('Get', 'Cache', 'Watch'),
    }),
  ),
  enableControllerAttachDetach: honoredInCluster(
    ignored('volumes are not attached without an API server', BOOL, true, {
      flag: 'enable-controller-attach-detach',
    }),
  ),
  podCIDR: ignored('the network of the runtime assigns pod IPs', TEXT, '', {flag: 'pod-cidr'}),
  volumePluginDir: honored(PATH, DEFAULT_VOLUME_PLUGIN_DIR, {flag: 'volume-plugin-dir'}),
  volumeStatsAggPeriod: honored(DURATION, '1m0s', {flag: 'volume-stats-agg-period'}),
  'tracing.endpoint': honored(pointer(TEXT), undefined, {check: tracingEndpointProblem}),
  'tracing.samplingRatePerMillion': honored(pointer(INT32), undefined, {check: between(0, 1_000_000)}),
  clusterDomain: honored(TEXT, '', {flag: 'cluster-domain'}),
  clusterDNS: honored(TEXTS, [], {flag: 'cluster-dns'}),
  resolvConf: honored(pointer(PATH), '/etc/resolv.conf', {flag: 'resolv-conf'}),
  hairpinMode: ignored('the network of the runtime decides', TEXT, 'promiscuous-bridge', {
    flag: 'hairpin-mode',
    check: oneOf('promiscuous-bridge', 'hairpin-veth', 'none'),
  }),
  makeIPTablesUtilChains: ignored('no other component uses the KUBE-IPTABLES-HINT chain', BOOL, true, {
    flag: 'make-iptables-util-chains',
  }),
  iptablesMasqueradeBit: ignored('it is deprecated and has no effect', pointer(INT32), 14, {
    flag: 'iptables-masquerade-bit',
  }),
  iptablesDropBit: ignored('it is deprecated and has no effect', pointer(INT32), 15, {
    flag: 'iptables-drop-bit',
  }),
};

const TAINT_EFFECTS: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function taintsProblem(
  taints: readonly {readonly key: string; readonly effect: string}[],
): string | undefined {
  const wrong = taints.find(({effect}) => !TAINT_EFFECTS.includes(effect));
  return wrong && `invalid taint effect: ${wrong.effect}, unsupported taint effect`;
}

function podLogsDirProblem(value: string): string | undefined {
  if (!value.startsWith('/')) return `${JSON.stringify(value)} must be absolute path`;
  return /\/\/|\/\.\.?(?:\/|$)/.test(value) ? `${JSON.stringify(value)} must be normalized` : undefined;
}

function urlProblem(value: string): string | undefined {
  const isUrl = value === '' || (/^https?:/i.test(value) && URL.canParse(value));
  return isUrl ? undefined : `${JSON.stringify(redactUrlText(value))} must be an http or https URL`;
}

/** Returns the message about the endpoint of a collector that no connection can be made to (tracing ValidateTracingConfiguration). */
function tracingEndpointProblem(endpoint: string): string | undefined {
  const scheme = /^([^/]*?):?\/\//.exec(endpoint)?.[1] ?? 'dns';
  return ['dns', 'unix'].includes(scheme)
    ? undefined
    : `has the unsupported scheme ${JSON.stringify(scheme)}: use HOST:PORT, or dns or unix as the scheme`;
}
