import type {Clock, RandomSource} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {ImageService, RuntimeService} from '../../cri/index.js';
import type {ClusterLink} from '../contract/cluster/cluster-link.js';
import type {KubeletMetrics} from '../contract/kubelet-metrics.js';
import type {LiveValue} from '../contract/live-value.js';
import type {NodeManager} from '../contract/node-manager.js';
import type {KubeletTracer} from '../contract/observation/kubelet-tracer.js';
import type {PodEvent} from '../contract/pod-event.js';
import type {ImageGcPolicy} from '../managers/images/gc/image-gc-policy.js';
import type {LogRotationOptions} from '../managers/logs/log-rotator.js';
import type {PlegNotice} from '../managers/pleg/pleg-notice.js';
import type {ContainerGcPolicy} from '../pods/gc/container-gc.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import type {NodeMeasurement} from './create-node-pressure.js';
import type {PodSources, PodSourcesSink} from './open-pod-sources.js';

/** Options of a kubelet. */
export interface KubeletOptions {
  readonly node: NodeAndRuntime;
  readonly runtime: RuntimeService;
  /** Opens the pod sources (openPodSources with its options). */
  readonly openSources: (sink: PodSourcesSink) => PodSources;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random?: RandomSource;
  /** Period of the sync of an idle pod, in ms. */
  readonly syncFrequencyMs: LiveValue<number>;
  /** True if pods are rejected if the node lacks the capacity for them. */
  readonly admission: boolean;
  /** True to use the runtime's events if it supports them. */
  readonly eventedPleg: boolean;
  /** True to stop all pods when the kubelet stops. By default they keep running. */
  readonly stopPodsOnExit: boolean;
  /**
   * Called with the root directory locked, before any pod is changed. The result is disposed when the kubelet stops.
   */
  readonly onLockAcquired?: () => Promise<AsyncDisposable>;
  /** Policy of the container GC; the kubelet's defaults if undefined. */
  readonly containerGc?: ContainerGcPolicy | undefined;
  /** Image service and policy of the image GC; without them no image is removed. */
  readonly images?: {readonly service: ImageService; readonly policy?: LiveValue<ImageGcPolicy> | undefined};
  /** Thresholds of node-pressure eviction, and observation of the node; without it no pod is evicted for the node. */
  readonly eviction?: NodeMeasurement;
  /** Limits of container logs; the kubelet's defaults if undefined. */
  readonly logRotation?: LiveValue<LogRotationOptions> | undefined;
  /** Sets the secret values to redact. */
  readonly hide: (texts: readonly string[]) => void;
  /** Called for each event, after it was logged. */
  readonly onEvent?: (event: PodEvent) => void;
  /** Metrics of the kubelet; by default nothing is counted. */
  readonly metrics?: KubeletMetrics & {pleg(notice: PlegNotice): void};
  /** Traces the work on pods and garbage collections; by default they are not traced. */
  readonly tracer?: KubeletTracer | undefined;
  /** Managers of the node's resources; those of createNodeManagers by default. */
  readonly nodeManagers?: readonly NodeManager[] | undefined;
  /** Cluster that the kubelet joins; none by default. */
  readonly cluster?: ClusterLink | undefined;
}
