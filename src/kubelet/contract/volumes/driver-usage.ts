/** Usage of a volume as its driver reports it, in bytes and inodes; 0 for what it does not report. */
export interface DriverUsage {
  readonly usedBytes: bigint;
  readonly availableBytes: bigint;
  readonly capacityBytes: bigint;
  readonly inodesUsed: bigint;
  readonly inodesFree: bigint;
  readonly inodes: bigint;
}
