import type {MountPoint} from '../../../../base/fs/mount-info.js';
import type {VolumeData} from '../csi/volume-data.js';

/** What is mounted at a path. */
export type MountFact = Pick<MountPoint, 'device' | 'fileSystem' | 'source' | 'path'>;

/** A volume in the directory of a pod. */
export interface PodVolumeFact {
  readonly uid: string;
  /** Name of its directory's plugin, such as `kubernetes.io/empty-dir`. */
  readonly plugin: string;
  /** Name of its directory: that in the pod, or that of the PersistentVolume. */
  readonly name: string;
  /** Directory or device that containers get. */
  readonly path: string;
  readonly isBlock: boolean;
  /** Mount at the path; of a block volume that of its device. Undefined if there is none. */
  readonly mount: MountFact | undefined;
  /** False if a part of the volume is missing that is made last. */
  readonly isComplete: boolean;
  /** Identity of a volume of a CSI driver. */
  readonly data?: VolumeData | undefined;
  /** Reason why the identity cannot be read. */
  readonly damage?: string;
}

/** A volume that is staged or mounted for all pods. */
export interface StagedVolumeFact {
  /** Plugin, such as `kubernetes.io/csi`. */
  readonly plugin: string;
  readonly path: string;
  /** Name of the PersistentVolume, if the path has it. */
  readonly name: string | undefined;
  readonly mount: MountFact | undefined;
  readonly data?: VolumeData | undefined;
  readonly damage?: string;
}

/** A volume that a CSI driver created for a claim. */
export interface ProvisionedVolumeFact {
  /** Name of the PersistentVolume. */
  readonly name: string;
  /** Claim as `namespace/name`. */
  readonly claim: string;
  readonly driver: string;
  readonly handle: string | undefined;
  /** True if the policy Retain has kept it after its claim, which may have another volume now. */
  readonly isReleased?: boolean;
  /** True if containers get it as a block device. */
  readonly isBlock?: boolean;
}

/** What a root directory says about volumes. */
export interface VolumeFacts {
  /** Root directory as it was asked for, and its real path. */
  readonly requestedDir: string;
  readonly rootDir: string;
  /** True if kcri has records of its pods there. */
  readonly isOfKcri: boolean;
  /** UIDs of the pods that have a directory. */
  readonly uids: readonly string[];
  readonly pods: readonly PodVolumeFact[];
  readonly staged: readonly StagedVolumeFact[];
  /** Directories of claims as `namespace/name`. */
  readonly claims: readonly string[];
  readonly provisioned: readonly ProvisionedVolumeFact[];
  /** Messages about what could not be read. */
  readonly problems: readonly string[];
}
