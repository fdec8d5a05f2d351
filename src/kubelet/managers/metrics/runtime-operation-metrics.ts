import type {Clock} from '../../../base/clock.js';
import type {CallObserver} from '../../../cri/index.js';
import type {MetricFamily} from './exposition.js';
import {Counter, exponentialBuckets, Histogram} from './metric-types.js';

/** Operation types of the kubelet by RPC (kuberuntime/instrumented_services.go). */
const OPERATION_TYPES: Readonly<Record<string, string>> = {
  Version: 'version',
  Status: 'status',
  CreateContainer: 'create_container',
  StartContainer: 'start_container',
  StopContainer: 'stop_container',
  RemoveContainer: 'remove_container',
  ListContainers: 'list_containers',
  ContainerStatus: 'container_status',
  UpdateContainerResources: 'update_container',
  ReopenContainerLog: 'reopen_container_log',
  ExecSync: 'exec_sync',
  Exec: 'exec',
  Attach: 'attach',
  RunPodSandbox: 'run_podsandbox',
  StopPodSandbox: 'stop_podsandbox',
  RemovePodSandbox: 'remove_podsandbox',
  PodSandboxStatus: 'podsandbox_status',
  ListPodSandbox: 'list_podsandbox',
  ContainerStats: 'container_stats',
  ListContainerStats: 'list_container_stats',
  PodSandboxStats: 'podsandbox_stats',
  ListPodSandboxStats: 'list_podsandbox_stats',
  PortForward: 'port_forward',
  UpdateRuntimeConfig: 'update_runtime_config',
  CheckpointContainer: 'checkpoint_container',
  GetContainerEvents: 'get_container_events',
  ListMetricDescriptors: 'list_metric_descriptors',
  ListPodSandboxMetrics: 'list_podsandbox_metrics',
  RuntimeConfig: 'runtime_config',
  ListImages: 'list_images',
  ImageStatus: 'image_status',
  PullImage: 'pull_image',
  RemoveImage: 'remove_image',
  ImageFsInfo: 'image_fs_info',
};

/** Metrics of calls to the runtime. */
export class RuntimeOperationMetrics {
  readonly #clock: Clock;
  readonly #total = new Counter({
    name: 'kubelet_runtime_operations_total',
    help: 'Cumulative number of runtime operations by operation type.',
    labels: ['operation_type'],
  });
  readonly #errors = new Counter({
    name: 'kubelet_runtime_operations_errors_total',
    help: 'Cumulative number of runtime operation errors by operation type.',
    labels: ['operation_type'],
  });
  readonly #duration = new Histogram({
    name: 'kubelet_runtime_operations_duration_seconds',
    help: 'Duration in seconds of runtime operations. Broken down by operation type.',
    labels: ['operation_type'],
    buckets: exponentialBuckets(0.005, 2.5, 14),
  });
  readonly #sandboxDuration = new Histogram({
    name: 'kubelet_run_podsandbox_duration_seconds',
    help: 'Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.',
    labels: ['runtime_handler'],
  });
  readonly #sandboxErrors = new Counter({
    name: 'kubelet_run_podsandbox_errors_total',
    help: 'Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.',
    labels: ['runtime_handler'],
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Observes the calls of a connection (ConnectOptions.observers). */
  readonly observer: CallObserver = ({method: {rpc}, request}) => {
    const startedAt = this.#clock.monotonic();
    const operation = OPERATION_TYPES[rpc] ?? rpc;
    return {
      ended: (error) => {
        const seconds = Math.max(0, this.#clock.monotonic() - startedAt) / 1000;
        this.#total.increase(operation);
        this.#duration.observe(seconds, operation);
        if (error !== undefined) this.#errors.increase(operation);
        if (rpc !== 'RunPodSandbox') return;
        const {runtimeHandler = ''} = request;
        this.#sandboxDuration.observe(seconds, String(runtimeHandler));
        if (error !== undefined) this.#sandboxErrors.increase(String(runtimeHandler));
      },
    };
  };

  families(): readonly MetricFamily[] {
    return [this.#total, this.#errors, this.#duration, this.#sandboxDuration, this.#sandboxErrors].map(
      (metric) => metric.family(),
    );
  }
}
