import type {JsonObject} from '../../format/json.js';

/** Kinds of objects in a report. */
export type UsageType = 'Images' | 'Containers' | 'Pods' | 'Logs' | 'Pod directories' | 'Volumes';

/** Usage of one kind of objects. */
export interface UsageSummary {
  readonly type: UsageType;
  readonly total: number;
  /** Number of objects in use. */
  readonly active: number;
  /** Size in bytes; undefined for objects without one. */
  readonly sizeBytes: bigint | undefined;
  /** Bytes that `system prune --all` frees at most. */
  readonly reclaimableBytes: bigint | undefined;
}

/** An object of a report. */
export interface UsageItem {
  readonly type: UsageType;
  readonly name: string;
  readonly id: string;
  /** True if it is in use. */
  readonly active: boolean;
  /** True if `system prune --all` removes it. */
  readonly reclaimable: boolean;
  /** State, number of users, or manager. */
  readonly detail: string;
  readonly sizeBytes: bigint | undefined;
}

/** Filesystem of the runtime. */
export interface FilesystemItem {
  readonly holds: string;
  readonly mountpoint: string;
  readonly usedBytes: bigint;
  readonly inodesUsed: bigint;
}

/** Disk usage of a node. */
export interface DiskUsageReport {
  readonly items: readonly UsageItem[];
  readonly filesystems: readonly FilesystemItem[];
  /** True if images share layers, whose size counts for each of them. */
  readonly hasSharedLayers: boolean;
}

const TYPES: readonly UsageType[] = ['Images', 'Containers', 'Pods', 'Logs', 'Pod directories', 'Volumes'];

/** Returns the totals of each kind. */
export function summarizeUsage({items}: Pick<DiskUsageReport, 'items'>): readonly UsageSummary[] {
  return TYPES.map((type) => {
    const own = items.filter((item) => item.type === type);
    return {
      type,
      total: own.length,
      active: own.filter(({active}) => active).length,
      sizeBytes: type === 'Pods' ? undefined : sum(own),
      reclaimableBytes: type === 'Pods' ? undefined : sum(own.filter(({reclaimable}) => reclaimable)),
    };
  });
}

function sum(items: readonly UsageItem[]): bigint {
  return items.reduce((total, {sizeBytes = 0n}) => total + sizeBytes, 0n);
}

/** Returns a report as JSON, with the totals of each kind under `usage`. */
export function diskUsageJson(report: DiskUsageReport): JsonObject {
  return {
    usage: summarizeUsage(report).map(usageJson),
    items: report.items.map(({sizeBytes, ...item}) => ({...item, sizeBytes: sizeBytes ?? null})),
    filesystems: report.filesystems.map((filesystem) => ({...filesystem})),
    sharedLayers: report.hasSharedLayers,
  };
}

function usageJson({sizeBytes, reclaimableBytes, ...summary}: UsageSummary): JsonObject {
  return {...summary, sizeBytes: sizeBytes ?? null, reclaimableBytes: reclaimableBytes ?? null};
}
