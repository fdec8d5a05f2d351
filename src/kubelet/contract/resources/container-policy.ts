/** How a node limits its containers beyond what their pods say (fields of KubeletConfiguration). */
export interface ContainerPolicy {
  /** False if containers and pods may use more CPU time than their limits (cpuCFSQuota). */
  readonly enforcesCpuLimits: boolean;
  /** Period of the CFS quota, in µs. */
  readonly cpuPeriodMicros: bigint;
  /** True if the OOM killer kills one process instead of all of a container (cgroup v2). */
  readonly singleProcessOomKill: boolean;
  readonly swapBehavior: 'NoSwap' | 'LimitedSwap';
  /** Protection and throttling of memory with cgroup v2; undefined without the feature gate MemoryQoS. */
  readonly memoryQos: MemoryQosPolicy | undefined;
}

/** Protection and throttling of the memory of containers. */
export interface MemoryQosPolicy {
  /** True if the kernel does not reclaim requested memory (memoryReservationPolicy TieredReservation). */
  readonly protectsRequests: boolean;
  /** Part of the memory between request and limit from which a container is throttled. */
  readonly throttlingFactor: number;
}

/** Policy of a node without a configuration. */
export const DEFAULT_CONTAINER_POLICY: ContainerPolicy = {
  enforcesCpuLimits: true,
  cpuPeriodMicros: 100_000n,
  singleProcessOomKill: false,
  swapBehavior: 'NoSwap',
  memoryQos: undefined,
};
