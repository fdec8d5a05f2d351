import type {PersistentVolumeAccessMode} from '../../../api/types/v1-attached-volumes.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {CsiSecretRef} from './csi-cluster.js';
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
  readonly readOnly: boolean;
  /** Empty to leave it to the driver. */
  readonly fsType: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly accessModes: readonly PersistentVolumeAccessMode[];
  readonly mountOptions: readonly string[];
  readonly stageSecret?: CsiSecretRef | undefined;
  readonly publishSecret?: CsiSecretRef | undefined;
}

/** Volumes of the CSI drivers that are registered with this process: none but in a daemon. */
export interface CsiVolumes {
  /**
   * Attaches, stages and publishes a volume, or publishes it again, and maps the device of a block volume; completes the work of a killed process. Rejects with
   * KcriError with the kubelet's message, and with the signal's reason.
   */
  mount(volume: CsiVolume, signal: AbortSignal): Promise<void>;
  /** Reports whether volumes of the driver are published again at each sync of their pods (RequiresRemount). */
  isRepublished(driver: string): boolean;
  /**
   * Asks the driver of a published volume for its usage; undefined without one. The path is that of the volume for containers;
   * for a block volume, it is that of its bind mount for the pod, and `blockName` the name of its PersistentVolume. Rejects with SystemError, after minutes if the driver hangs.
   */
  measure(path: string, blockName?: string): Promise<DriverUsage | undefined>;
  /**
   * Unpublishes the volumes in the directory of a pod, and releases those that no other pod uses. Failures are repeated with a
   * growing delay for two minutes; then it rejects with SystemError, and must be called again.
   */
  unmountPod(podDir: string, uid: string, signal?: AbortSignal): Promise<void>;
}
