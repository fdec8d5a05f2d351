/** Resource usage of the node, or of all pods of remote or several nodes; undefined values are unknown. */
export interface NodeUsageView {
  readonly name: string;
  /** Percentage of all cores; of pods, of one core. */
  readonly cpuPercent: number | undefined;
  /** Number of cores of the node; undefined for the usage of all pods. */
  readonly cores: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly memoryTotalBytes: number | undefined;
}
