import {parseQuantity} from '../../api/quantity.js';
import type {Connection} from '../../cri/index.js';
import {
  milliseconds,
  openPodSources,
  type ConfigValues,
  type DescribedNode,
  type KubeletOptions,
  type LiveConfig,
  type VerificationPolicy,
} from '../../kubelet/index.js';
import type {CliContext} from '../context.js';

/** What a kubelet's options are made of. */
export interface KubeletOptionsParts extends Pick<
  KubeletOptions,
  'admission' | 'stopPodsOnExit' | 'containerGc' | 'hide' | 'logger' | 'metrics' | 'begun'
> {
  readonly live: LiveConfig;
  readonly connection: Connection;
  readonly node: DescribedNode;
  readonly context: CliContext;
}

/** What a kubelet runs with: what may change while it runs is looked up when it is needed. */
export function kubeletOptions({
  live,
  connection,
  node,
  context,
  ...parts
}: KubeletOptionsParts): KubeletOptions {
  const {values} = live;
  const {clock} = context;
  const {admission, stopPodsOnExit, containerGc, hide, logger, metrics, begun} = parts;
  return {
    admission,
    stopPodsOnExit,
    containerGc,
    hide,
    logger,
    ...(metrics && {metrics}),
    ...(begun && {begun}),
    node: withPolicies(node, values),
    runtime: connection.runtime,
    openSources: (sink) =>
      openPodSources(
        {
          manifestPath: values.staticPodPath === '' ? undefined : values.staticPodPath,
          manifestUrl: values.staticPodURL === '' ? undefined : values.staticPodURL,
          manifestHeaders: values.staticPodURLHeader,
          get fileCheckFrequencyMs() {
            return milliseconds(live.values.fileCheckFrequency);
          },
          get httpCheckFrequencyMs() {
            return milliseconds(live.values.httpCheckFrequency);
          },
          nodeName: node.node.nodeName,
          clock,
        },
        sink,
      ),
    clock,
    get syncFrequencyMs() {
      return milliseconds(live.values.syncFrequency);
    },
    eventedPleg: values.featureGates['EventedPLEG'] !== false,
    images: {service: connection.images, policy: imagePolicy(live)},
    logRotation: logRotation(live),
  };
}

function imagePolicy(live: LiveConfig): NonNullable<NonNullable<KubeletOptions['images']>['policy']> {
  return {
    get highThresholdPercent() {
      return live.values.imageGCHighThresholdPercent;
    },
    get lowThresholdPercent() {
      return live.values.imageGCLowThresholdPercent;
    },
    get minAgeMs() {
      return milliseconds(live.values.imageMinimumGCAge);
    },
    get maxAgeMs() {
      return milliseconds(live.values.imageMaximumGCAge);
    },
  };
}

function logRotation(live: LiveConfig): NonNullable<KubeletOptions['logRotation']> {
  return {
    get maxSizeBytes() {
      return Number(parseQuantity(live.values.containerLogMaxSize).nanos / 1_000_000_000n);
    },
    get maxFiles() {
      return live.values.containerLogMaxFiles;
    },
    get maxWorkers() {
      return live.values.containerLogMaxWorkers;
    },
    get monitorIntervalMs() {
      return milliseconds(live.values.containerLogMonitorInterval);
    },
  };
}

/** The node with what the configuration says of images, crashing containers and the number of pods. */
function withPolicies(node: DescribedNode, values: ConfigValues): DescribedNode {
  const {maxParallelImagePulls: most, podsPerCore, maxPods} = values;
  const serialize = values.serializeImagePulls ?? (most ?? 1) < 2;
  const cores = Number(node.node.cpuMilli) / 1000;
  const kind = values.imagePullCredentialsVerificationPolicy as VerificationPolicy['kind'];
  const images = values.preloadedImagesVerificationAllowlist;
  return {
    ...node,
    node: {
      ...node.node,
      maxPods: podsPerCore === 0 ? maxPods : Math.min(maxPods, Math.trunc(podsPerCore * cores)),
    },
    imagePolicy: {
      limits: {
        maxParallelImagePulls: serialize ? 1 : (most ?? Number.POSITIVE_INFINITY),
        registryPullQps: values.registryPullQPS,
        registryBurst: values.registryBurst,
      },
      verification: kind === 'NeverVerifyAllowlistedImages' ? {kind, images} : {kind},
    },
    crashBackoffMaxMs: milliseconds(values['crashLoopBackOff.maxContainerRestartPeriod']),
  };
}
