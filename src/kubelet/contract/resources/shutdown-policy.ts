/** Time that pods of a priority, or of a higher one, have when the node shuts down. */
export interface ShutdownPeriod {
  readonly priority: number;
  readonly shutdownGracePeriodSeconds: number;
}

/** Periods of a graceful shutdown of the node (fields of KubeletConfiguration). */
export interface ShutdownPolicy {
  /** shutdownGracePeriod and shutdownGracePeriodCriticalPods, for the log. */
  readonly requestedNanos: bigint;
  readonly criticalNanos: bigint;
  /** By priority, lowest first. */
  readonly periods: readonly ShutdownPeriod[];
  /** True if start and end are recorded, for the metrics (GracefulNodeShutdownBasedOnPodPriority). */
  readonly recordsTimes: boolean;
}
