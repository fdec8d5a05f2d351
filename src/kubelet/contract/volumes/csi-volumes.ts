import type {PersistentVolumeAccessMode} from '../../../api/types/v1-attached-volumes.js';
import type {Quantity} from '../../../api/types/v1-meta.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {EventSink} from '../pod-event.js';
import type {CsiSecretRef, SecretContent} from './csi-cluster.js';
import type {ClaimRef} from './resized-claim.js';
import type {DriverUsage} from './driver-usage.js';

/** A volume of a CSI driver for a pod. */
export interface CsiVolume {
  readonly pod: Pod;
  /** Name of the PersistentVolume; of an ephemeral volume its name in the pod. */
  readonly name: string;
  /** Name of the volume in the pod. */
  readonly specName: string;
  /** Name of the PersistentVolume, if containers get it as a block device. */
  readonly blockName?: string | undefined;
  readonly driver: string;
  /** ID of the volume for its driver. */
  readonly handle: string;
  /** True for a volume in the spec of a pod, which the driver creates and removes with the pod. */
  readonly isEphemeral: boolean;
  /** True for a volume of an in-tree kind that the driver replaced; false by default. */
  readonly isMigrated?: boolean | undefined;
  readonly readOnly: boolean;
  /** Empty to leave it to the driver. */
  readonly fsType: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly accessModes: readonly PersistentVolumeAccessMode[];
  readonly mountOptions: readonly string[];
  /** SELinux label of all files, if the volume is mounted with it. */
  readonly seLinuxLabel?: string;
  readonly stageSecret?: CsiSecretRef | undefined;
  readonly publishSecret?: CsiSecretRef | undefined;
  readonly expandSecret?: CsiSecretRef | undefined;
  /** Sizes of a volume of a claim; undefined for others. */
  readonly expansion?: VolumeExpansion | undefined;
}

/** Sizes of a PersistentVolume, from which an expansion is seen. */
export interface VolumeExpansion {
  readonly claim: ClaimRef;
  /** Size that the volume has for its driver's controller. */
  readonly size: Quantity;
  /** Size in the status of the claim; undefined if it is not known. */
  readonly claimSize: Quantity | undefined;
}

/** A PersistentVolume, of any plugin, which can be enlarged on the node. */
export interface ExpandableVolume extends Pick<CsiVolume, 'pod' | 'name' | 'readOnly'> {
  /** Name of its plugin in metrics. */
  readonly plugin: string;
  /** Name that no other volume of the node has. */
  readonly uniqueName: string;
  readonly expansion: VolumeExpansion;
  /** Enlarges the volume on the node (NodeExpand). Rejects with SystemError, and with the signal's reason. */
  expandOnNode(sizes: NodeExpansion, signal: AbortSignal): Promise<void>;
}

/** Sizes of a volume that is enlarged on the node. */
export interface NodeExpansion {
  readonly newSize: Quantity;
  readonly oldSize: Quantity;
}

/** Options of an expansion. */
export interface ExpandOptions {
  /** True if containers of the pod can use the volume already, false while it is mounted. */
  readonly isMounted: boolean;
  readonly events?: EventSink | undefined;
  readonly signal: AbortSignal;
}

/** A volume that a driver is to create. */
export interface NewCsiVolume {
  readonly driver: string;
  /** Name that identifies the request, also when it is repeated. */
  readonly name: string;
  readonly requiredBytes: bigint;
  /** 0 for no limit. */
  readonly limitBytes: bigint;
  /** Empty to leave it to the driver. */
  readonly fsType: string;
  readonly accessModes: readonly PersistentVolumeAccessMode[];
  readonly mountOptions: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  /** Attributes that can be changed later; undefined for a driver that need not be able to change any. */
  readonly mutableParameters?: Readonly<Record<string, string>> | undefined;
  /** Name of the PersistentVolume of a block volume; undefined for a file system. */
  readonly blockName?: string | undefined;
  /** Secret of the calls that create and delete the volume. */
  readonly secret?: CsiSecretRef | undefined;
}

/** A volume that a driver is to delete. */
export interface CsiVolumeToDelete extends Pick<NewCsiVolume, 'driver' | 'secret'> {
  readonly handle: string;
}

/** A volume that may be staged on the node. */
export interface CsiVolumeOnNode extends Pick<NewCsiVolume, 'driver' | 'blockName'> {
  readonly handle: string;
}

/** A volume that a driver is to enlarge. */
export interface CsiVolumeToExpand extends Pick<
  NewCsiVolume,
  'driver' | 'requiredBytes' | 'fsType' | 'accessModes' | 'mountOptions' | 'blockName'
> {
  readonly handle: string;
  /** Secret of the call. */
  readonly secret?: CsiSecretRef | undefined;
}

/** A volume whose attributes a driver is to change. */
export interface CsiVolumeToModify extends Pick<NewCsiVolume, 'driver'> {
  readonly handle: string;
  readonly mutableParameters: Readonly<Record<string, string>>;
}

/** A volume that a driver has enlarged. */
export interface ExpandedCsiVolume {
  /** 0 if it is not known. */
  readonly bytes: bigint;
  /** True if it must also be enlarged on the node. */
  readonly needsNode: boolean;
}

/** A volume that a driver has created. */
export interface CreatedCsiVolume {
  readonly handle: string;
  /** 0 if it is not known. */
  readonly bytes: bigint;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A volume of another plugin than that of CSI drivers, which a controller attaches, and a pod that has it. */
export interface PluginAttachment {
  readonly uniqueName: string;
  readonly podUid: string;
}

/** Unique names that a mounted volume can have: more than one if several spellings of its source have the same mount. */
export type PossibleNames = readonly string[];

/** Volumes of other plugins than that of CSI drivers, by unique name, that controllers attach to the node. */
export interface ControllerAttachments {
  /** Reports a volume as used by a pod, so that it is not detached before it is released. */
  use(uniqueName: string, podUid: string): void;
  /**
   * Waits until a volume that a pod uses is attached; `volume` is its name in the pod, `plugin` that of its plugin in metrics. Resolves with the device that the controller
   * names, which can be empty. Rejects with the signal's reason.
   */
  untilAttached(
    uniqueName: string,
    pod: {readonly uid: string; readonly volume: string; readonly plugin: string},
    signal: AbortSignal,
  ): Promise<string>;
  /**
   * Notes that a pod no longer uses volumes. Those without another pod are in use until they are not among the mounted ones. Rejects
   * like `listMounted`.
   */
  release(podUid: string, listMounted: () => Promise<readonly PossibleNames[]>): Promise<void>;
}

/** Volumes of the CSI drivers of the node, which a daemon lets register, and others look up in their directory. */
export interface CsiVolumes {
  /**
   * Attaches, stages and publishes a volume, or publishes it again, and maps the device of a block volume; completes the
   * work of a killed process. Calls `onStaged` when the volume is staged for the pods of the node. Rejects with KcriError with the kubelet's message, and with the signal's reason.
   */
  mount(volume: CsiVolume, signal: AbortSignal, onStaged?: () => void): Promise<void>;
  /** Reports whether the mount of a pod's volume, by its name in the pod, waits until the volume is attached. */
  isAttaching(podUid: string, volume: string): boolean;
  /**
   * Resolves with whether the volume waits because the node cannot attach more volumes of its driver; the driver has then reported
   * its new limit (VerifyExhaustedResource). Rejects with the signal's reason.
   */
  exceedsLimit(podUid: string, volume: string, signal: AbortSignal): Promise<boolean>;
  /** Reports whether a mounted volume, by its name in the pod, has a SELinux label for all files, which cannot be changed. */
  hasMountLabel(podUid: string, volume: string): boolean;
  /**
   * Enlarges a published volume, if its driver's controller has done its part, and reports that in the status of the claim.
   * Resolves with false if it must be tried again, because the controller has not finished. Rejects with KcriError with the
   * kubelet's message, and with the signal's reason.
   */
  expand(volume: CsiVolume, options: ExpandOptions): Promise<boolean>;
  /**
   * Enlarges a volume of another plugin, and reports that in the status of its claim. Resolves and rejects like expand. Undefined in
   * a process without an API server.
   */
  expandOther?(volume: ExpandableVolume, options: ExpandOptions): Promise<boolean>;
  /** Reports whether volumes of the driver are published again at each sync of their pods (RequiresRemount). */
  isRepublished(driver: string): boolean;
  /**
   * Asks the driver of a published volume for its usage; undefined without one. The path is that of the volume for
   * containers; for a block volume, it is that of its bind mount for the pod, and `blockName` the name of its
   * PersistentVolume. Rejects with SystemError, after minutes if the driver hangs.
   */
  measure(path: string, blockName?: string): Promise<DriverUsage | undefined>;
  /**
   * Unpublishes the volumes in the directory of a pod, and releases those that no other pod uses. Failures are repeated with a
   * growing delay for two minutes; then it rejects with SystemError, and must be called again. It also does so before an attempt
   * for which `isWanted` reports that the pod exists again.
   */
  unmountPod(podDir: string, uid: string, signal?: AbortSignal, isWanted?: () => boolean): Promise<void>;
  /** Volumes of other plugins that controllers attach to the node; undefined if none does. */
  readonly attachments?: ControllerAttachments | undefined;
  /** True if controllers attach volumes to the node; false by default. */
  readonly attachesVolumes?: boolean;
  /** Reports whether a driver can be called. */
  isRegistered(driver: string): Promise<boolean>;
  /**
   * Returns a Secret that a PersistentVolume refers to, also of another plugin. Undefined in a process whose objects are those of
   * the manifests. Rejects with KcriError, and with the signal's reason.
   */
  secret?(ref: CsiSecretRef, signal: AbortSignal): Promise<SecretContent>;
  /** Creates a volume, or returns that of an earlier call with its name. Rejects with SystemError and the signal's reason. */
  createVolume(volume: NewCsiVolume, signal: AbortSignal): Promise<CreatedCsiVolume>;
  /** Enlarges a volume that was created. Rejects like createVolume, also if the driver can enlarge none. */
  expandVolume(volume: CsiVolumeToExpand, signal: AbortSignal): Promise<ExpandedCsiVolume>;
  /** Changes attributes of a volume that was created. Rejects like createVolume, also if the driver can change none. */
  modifyVolume(volume: CsiVolumeToModify, signal: AbortSignal): Promise<void>;
  /**
   * Unstages a volume unless a pod uses it. Undefined in a daemon, which does that by itself. Rejects with SystemError and the signal's
   * reason.
   */
  unstageUnused?(volume: CsiVolumeOnNode, signal?: AbortSignal): Promise<void>;
  /** Deletes a volume that no pod uses; succeeds if it does not exist. Rejects like createVolume. */
  deleteVolume(volume: CsiVolumeToDelete, signal?: AbortSignal): Promise<void>;
}
