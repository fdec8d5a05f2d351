import type {FileUsage} from '../../../../base/fs/file-usage.js';
import type {FilesystemCapacity} from './filesystem-stats.js';

/** Usage of a volume of a pod, and of the filesystem on which it is. */
export interface VolumeUsage extends FileUsage {
  readonly name: string;
  readonly timeNanos: bigint;
  /** True if the volume counts as ephemeral storage of its pod (IsLocalEphemeralVolume). */
  readonly isEphemeral: boolean;
  readonly capacity: FilesystemCapacity;
  /** Its PersistentVolumeClaim; undefined without one. */
  readonly claim?: ClaimReference;
}

/** A PersistentVolumeClaim. */
export interface ClaimReference {
  readonly name: string;
  readonly namespace: string;
}
