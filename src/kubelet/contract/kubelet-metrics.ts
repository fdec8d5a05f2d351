import type {ProbeKind} from './probe-results.js';
import type {SyncResult} from './sync-result.js';

/** A completed probe of a container. */
export interface ProbeMeasurement {
  readonly probe: ProbeKind;
  readonly result: 'successful' | 'failed' | 'unknown';
  readonly durationMs: number;
  readonly pod: {readonly name: string; readonly namespace: string; readonly uid: string};
  readonly container: string;
}

/** A request for an image; unknown fields are undefined. */
export interface ImageEnsureRequest {
  readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  readonly isPresent: boolean | undefined;
  readonly mustPull: boolean | undefined;
}

/** A completed operation of a volume plugin. */
export interface VolumeOperation {
  /** Name of the plugin, such as `kubernetes.io/configmap`. */
  readonly plugin: string;
  readonly operation:
    | 'volume_mount'
    | 'map_volume'
    | 'volume_unmount'
    | 'unmap_volume'
    | 'unmount_device'
    | 'unmap_device'
    | 'volume_fs_resize'
    | 'volume_apply_access_control'
    | 'verify_controller_attached_volume';
  /** True for a volume of an in-tree kind that is mounted by the CSI driver that replaced it; false by default. */
  readonly isMigrated?: boolean | undefined;
  readonly isSuccessful: boolean;
  readonly durationMs: number;
}

/** A call of the pod resources API, by version and method. */
export interface PodResourcesCall {
  readonly version: 'v1' | 'v1alpha1';
  /** Undefined in the version that has only one. */
  readonly method?: 'list' | 'get_allocatable' | 'get';
  readonly isFailed?: boolean;
}

/** A call of a DRA driver; `code` is Go's name of the gRPC status. */
export interface DraCall {
  readonly driver: string;
  /** Full name, such as `/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources`. */
  readonly method: string;
  readonly code: string;
  readonly durationMs: number;
}

/** A call of a CSI driver; `code` is Go's name of the gRPC status. */
export interface CsiCall {
  readonly driver: string;
  /** Full name, such as `/csi.v1.Node/NodeStageVolume`. */
  readonly method: string;
  /** True if it is for a volume of an in-tree kind that the driver replaced. */
  readonly isMigrated: boolean;
  readonly code: string;
  readonly durationMs: number;
}

/** Preparation or release of all ResourceClaims of a pod. */
export interface DraOperation {
  readonly operation: 'PrepareResources' | 'UnprepareResources';
  readonly isFailed: boolean;
  readonly durationMs: number;
}

/** Numbers of CPUs by what they are used for. */
export interface CpuUse {
  /** Without those that are reserved. */
  readonly shared: number;
  readonly exclusive: number;
  /** Exclusive ones by NUMA node. */
  readonly byNumaNode: ReadonlyMap<number, number>;
}

/** Metrics of a kubelet (pkg/kubelet/metrics). Methods must be fast and must not throw. */
export interface KubeletMetrics {
  /** Observes the time a pod worker took for an update (pod_worker_duration_seconds). */
  workCompleted(operation: 'create' | 'update' | 'sync' | 'kill', durationMs: number): void;
  /** Observes the start of a new pod's worker; `seenAtMs` in ms since the epoch (pod_worker_start_duration_seconds). */
  workerStarted(seenAtMs: number): void;
  /** Observes that a pod runs; `seenAtMs` in ms since the epoch (pod_start_duration_seconds). */
  podStarted(seenAtMs: number): void;
  /** Observes the number of containers of an admitted pod (containers_per_pod_count). */
  podAdded(containers: number): void;
  /**
   * Counts the results of a sync (started_pods_total, started_containers_total, their errors, those of user
   * namespaces).
   */
  podSynced(results: readonly SyncResult[], hasUserNamespace: boolean): void;
  /** Counts an eviction by its signal, such as `emptydirfs.limit` (evictions). */
  podEvicted(signal: string): void;
  /** Observes how old the measurement was on which an eviction is based (eviction_stats_age_seconds). */
  evictionStatsUsed(signal: string, ageMs: number): void;
  /** Observes the creation, change or removal of a pod's cgroup by kcri (cgroup_manager_duration_seconds). */
  cgroupManaged(operation: 'create' | 'update' | 'destroy', durationMs: number): void;
  /** Observes an operation of a volume plugin (storage_operation_duration_seconds). */
  volumeOperated(operation: VolumeOperation): void;
  /** Observes the time from the request to mount a volume until it was mounted (volume_operation_total_seconds). */
  volumeMounted(plugin: string, durationMs: number): void;
  /** Counts a deleted pod that was added again with the same UID (restarted_pods_total). */
  podRestarted(isStatic: boolean): void;
  /** Counts an error in the handling of a pod: in the sync loop, such as `add` or `sync`, or in `work` of its worker. */
  podHandlingFailed(handling: string): void;
  /** Counts a running pod without a pod worker (orphaned_runtime_pods_total). */
  orphanedPodFound(): void;
  /** Sets the number of orphaned pods in the last cleanup and of failures among them (orphan_pod_cleaned_volumes). */
  orphanedPodsRemoved(count: number, failures: number): void;
  /** Counts a request for an image (image_manager_ensure_image_requests_total). */
  imageEnsured(image: ImageEnsureRequest): void;
  /** Observes an image pull, without the wait for others; size 0 means unknown (image_pull_duration_seconds). */
  imagePulled(sizeBytes: bigint, durationMs: number): void;
  /** Counts the removal of an unused image (image_garbage_collected_total). */
  imageCollected(reason: 'age' | 'space'): void;
  /** Counts a pod preempted for a critical one, by resource (preemptions). */
  podPreempted(resource: string): void;
  /** Counts an allocation of exclusive CPUs (cpu_manager_pinning_requests_total, cpu_manager_pinning_errors_total). */
  cpusPinned(isFailed: boolean): void;
  /**
   * Sets the use of the CPUs (cpu_manager_shared_pool_size_millicores, cpu_manager_exclusive_cpu_allocation_count,
   * cpu_manager_allocation_per_numa).
   */
  cpusAssigned(use: CpuUse): void;
  /** Counts a registration of a device plugin (device_plugin_registration_total). */
  devicePluginRegistered(resource: string): void;
  /** Observes an Allocate of a device plugin (device_plugin_alloc_duration_seconds). */
  devicesAllocated(resource: string, durationMs: number): void;
  /** Observes a call of a DRA driver (dra_grpc_operations_duration_seconds). */
  draCallCompleted(call: DraCall): void;
  /** Observes a call of a CSI driver (csi_operations_seconds). */
  csiCallCompleted(call: CsiCall): void;
  /** Observes the preparation or the release of a pod's claims (dra_operations_duration_seconds). */
  draOperationCompleted(operation: DraOperation): void;
  /** Replaces the numbers of prepared claims by driver (dra_resource_claims_in_use). */
  draClaimsInUse(counts: ReadonlyMap<string, number>): void;
  /** Counts a call of the pod resources API, such as `list` (pod_resources_endpoint_requests_*). */
  podResourcesRequested(call: PodResourcesCall): void;
  /** Counts and times an admission by the topology manager; an error is counted unless its policy is `none` (topology_manager_*). */
  topologyAdmitted(admission: {readonly durationMs: number; readonly isFailed: boolean}): void;
  /** Counts resources that had to be on one NUMA node (container_aligned_compute_resources_*). */
  resourcesAligned(scope: 'container' | 'pod', isFailed: boolean): void;
  /** Counts memory that a container got of its own, or could not get (memory_manager_pinning_*). */
  memoryPinned(isFailed: boolean): void;
  /**
   * Sets the memory of Guaranteed and of Burstable pods that the kernel does not reclaim, in bytes (memory_qos_node_memory_min_bytes,
   * memory_qos_node_memory_low_bytes).
   */
  memoryProtected(bytes: {readonly guaranteed: bigint; readonly burstable: bigint}): void;
  /**
   * Sets the times of the last graceful shutdown of the node, in ms since the epoch (graceful_shutdown_start_time_seconds,
   * graceful_shutdown_end_time_seconds).
   */
  nodeShutDown(times: {readonly startedAt: number | undefined; readonly endedAt: number | undefined}): void;
  /** Drops the metrics of a removed pod. */
  podRemoved(pod: ProbeMeasurement['pod']): void;
  /** Counts and times a probe (prober_probe_total, prober_probe_duration_seconds). */
  probeCompleted(probe: ProbeMeasurement): void;
}

/** Metrics that are discarded. */
export const NO_METRICS: KubeletMetrics = {
  workCompleted: () => undefined,
  workerStarted: () => undefined,
  podStarted: () => undefined,
  podAdded: () => undefined,
  podSynced: () => undefined,
  podEvicted: () => undefined,
  evictionStatsUsed: () => undefined,
  cgroupManaged: () => undefined,
  volumeOperated: () => undefined,
  volumeMounted: () => undefined,
  podRestarted: () => undefined,
  podHandlingFailed: () => undefined,
  orphanedPodFound: () => undefined,
  orphanedPodsRemoved: () => undefined,
  imageEnsured: () => undefined,
  imagePulled: () => undefined,
  imageCollected: () => undefined,
  podPreempted: () => undefined,
  cpusPinned: () => undefined,
  cpusAssigned: () => undefined,
  devicePluginRegistered: () => undefined,
  devicesAllocated: () => undefined,
  draCallCompleted: () => undefined,
  csiCallCompleted: () => undefined,
  draOperationCompleted: () => undefined,
  draClaimsInUse: () => undefined,
  podResourcesRequested: () => undefined,
  topologyAdmitted: () => undefined,
  resourcesAligned: () => undefined,
  memoryPinned: () => undefined,
  memoryProtected: () => undefined,
  nodeShutDown: () => undefined,
  podRemoved: () => undefined,
  probeCompleted: () => undefined,
};
