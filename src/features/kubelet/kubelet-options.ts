import {resolve} from 'node:path';
import {parseQuantity} from '../../api/quantity.js';
import type {Connection} from '../../cri/index.js';
import {
  createManagerSettings,
  createNodePolicies,
  durationToMs,
  periodToMs,
  liveValue,
  openPodSources,
  parseEvictionSettings,
  readPodUsages,
  SignalReader,
  withReservations,
  type ConfigValues,
  type ImageGcPolicy,
  type NodeAndRuntime,
  type KubeletOptions,
  type LiveConfig,
  type LogRotationOptions,
  type NodeMeasurement,
  type NodeSettings,
  type VerificationPolicy,
} from '../../kubelet/index.js';
import type {JoinedCluster} from '../../kubelet/cluster/index.js';
import type {CliContext} from '../../cli/process/context.js';

/** Inputs of {@link createKubeletOptions}. */
export interface KubeletOptionsParts extends Pick<
  KubeletOptions,
  'admission' | 'stopPodsOnExit' | 'containerGc' | 'hide' | 'logger' | 'metrics' | 'onLockAcquired' | 'tracer'
> {
  readonly liveConfig: LiveConfig;
  readonly connection: Connection;
  readonly node: NodeAndRuntime;
  readonly context: CliContext;
  /** Cluster to join; none for a kubelet without an API server. */
  readonly cluster: JoinedCluster | undefined;
}

/** Creates a kubelet's options. Reloadable settings are live values. */
export function createKubeletOptions({
  liveConfig,
  connection,
  node,
  context,
  cluster,
  ...parts
}: KubeletOptionsParts): KubeletOptions {
  const {values} = liveConfig;
  const {clock} = context;
  const {admission, stopPodsOnExit, containerGc, hide, logger, metrics, onLockAcquired, tracer} = parts;
  return {
    admission,
    stopPodsOnExit,
    containerGc,
    hide,
    logger,
    ...(metrics && {metrics}),
    tracer,
    ...(onLockAcquired && {onLockAcquired}),
    node: withPolicies(node, values),
    runtime: connection.runtime,
    cluster,
    openSources: (sink) =>
      openPodSources(
        {
          manifestPath: values.staticPodPath === '' ? undefined : values.staticPodPath,
          manifestUrl: values.staticPodURL === '' ? undefined : values.staticPodURL,
          manifestHeaders: values.staticPodURLHeader,
          fileCheckFrequencyMs: liveValue(() => periodToMs(liveConfig.values.fileCheckFrequency)),
          httpCheckFrequencyMs: liveValue(() => periodToMs(liveConfig.values.httpCheckFrequency)),
          api: cluster?.source,
          nodeName: node.node.nodeName,
          clock,
          rootDir: cluster === undefined ? node.node.rootDir : undefined,
        },
        sink,
      ),
    clock,
    syncFrequencyMs: liveValue(() => periodToMs(liveConfig.values.syncFrequency)),
    eventedPleg: values.featureGates['EventedPLEG'] !== false,
    images: {service: connection.images, policy: liveValue(() => imagePolicy(liveConfig))},
    logRotation: liveValue(() => logRotation(liveConfig)),
    eviction: measureNode(values, {connection, node, clock}),
  };
}

/** Returns the thresholds of eviction, and the measurement of the node and its pods. */
export function measureNode(
  values: ConfigValues,
  {connection, node, clock}: Pick<KubeletOptionsParts, 'connection' | 'node'> & Pick<CliContext, 'clock'>,
): NodeMeasurement {
  const signals = new SignalReader({node: node.node, images: connection.images, clock});
  return {
    settings: parseEvictionSettings(values),
    readSignals: async (signal) => await signals.read(signal),
    // As in a kubelet, the kernel does not notify of the memory of cgroup v2.
    readMemory:
      values.kernelMemcgNotification && node.node.cgroup.version === 1
        ? () => signals.readMemory()
        : undefined,
    readUsages: async (pods, signal) => await readPodUsages(pods, {...connection, ...node}, signal),
  };
}

function imagePolicy({values}: LiveConfig): ImageGcPolicy {
  return {
    highThresholdPercent: values.imageGCHighThresholdPercent,
    lowThresholdPercent: values.imageGCLowThresholdPercent,
    minAgeMs: durationToMs(values.imageMinimumGCAge),
    maxAgeMs: durationToMs(values.imageMaximumGCAge),
  };
}

function logRotation({values}: LiveConfig): LogRotationOptions {
  return {
    maxSizeBytes: Number(parseQuantity(values.containerLogMaxSize).nanos / 1_000_000_000n),
    maxFiles: values.containerLogMaxFiles,
    maxWorkers: values.containerLogMaxWorkers,
    monitorIntervalMs: periodToMs(values.containerLogMonitorInterval),
  };
}

/** Returns the number of pods that the node can run. */
function computeMaxPods({node}: NodeAndRuntime, {podsPerCore, maxPods}: ConfigValues): number {
  const cores = Number(node.cpuMilli) / 1000;
  return podsPerCore === 0 ? maxPods : Math.min(maxPods, Math.trunc(podsPerCore * cores));
}

/** Returns the settings of the node's Node object. */
export function createNodeSettings(
  node: NodeAndRuntime,
  values: ConfigValues,
  externalCloudProvider: boolean,
): NodeSettings {
  return {
    maxPods: computeMaxPods(node, values),
    port: values.port,
    providerId: values.providerID,
    externalCloudProvider,
    registerWithTaints: values.registerWithTaints,
    controllerAttaches: values.enableControllerAttachDetach,
    maxImages: values.nodeStatusMaxImages,
  };
}

/** Directory in which device plugins look for a kubelet, whatever its root directory is (DevicePluginPath). */
const DEVICE_PLUGINS_DIR = '/var/lib/kubelet/device-plugins';

/** Returns the directory of device plugins. Tests, of which several run at once, have one below their root directory. */
export function devicePlugins({
  rootDir,
  context: {env},
}: {
  readonly rootDir: string;
  readonly context: {readonly env: Readonly<Record<string, string | undefined>>};
}): {readonly devicePluginsDir: string} {
  return {devicePluginsDir: resolve(rootDir, env['KCRI_TEST_DEVICE_PLUGINS_DIR'] ?? DEVICE_PLUGINS_DIR)};
}

type FoundNode = Parameters<typeof withReservations>[0];

/** Returns a node with its addresses and policies, and without the resources that the configuration reserves. */
export function joinedNode(
  found: FoundNode,
  facts: Partial<Pick<FoundNode['node'], 'inCluster' | 'hostIps' | 'devicePluginsDir'>>,
  config: ConfigValues,
): FoundNode {
  const policies = {...createNodePolicies(config, found.node.cgroup), ...createManagerSettings(config)};
  const isolation = config.localStorageCapacityIsolation ? {} : {ephemeralStorageBytes: 0n};
  return withReservations({...found, node: {...found.node, ...facts, ...policies, ...isolation}}, config);
}

/** Adds the settings for images, crash back-off and the number of pods to the node. */
export function withPolicies(node: NodeAndRuntime, values: ConfigValues): NodeAndRuntime {
  const {maxParallelImagePulls} = values;
  const serialize = values.serializeImagePulls ?? (maxParallelImagePulls ?? 1) < 2;
  const kind = values.imagePullCredentialsVerificationPolicy as VerificationPolicy['kind'];
  const images = values.preloadedImagesVerificationAllowlist;
  return {
    ...node,
    node: {
      ...node.node,
      maxPods: computeMaxPods(node, values),
    },
    imagePolicy: {
      limits: {
        maxParallelImagePulls: serialize ? 1 : (maxParallelImagePulls ?? Number.POSITIVE_INFINITY),
        registryPullQps: values.registryPullQPS,
        registryBurst: values.registryBurst,
      },
      verification: kind === 'NeverVerifyAllowlistedImages' ? {kind, images} : {kind},
    },
    crashBackoffMaxMs: durationToMs(values['crashLoopBackOff.maxContainerRestartPeriod']),
  };
}
