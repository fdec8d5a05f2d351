/** What happened to a volume of a pod. Times are in RFC 3339. */
export interface VolumeHistory {
  /** Name in the pod. */
  readonly name: string;
  /** Name of the volume's directory: that of the PersistentVolume, if there is one. */
  readonly volume: string;
  /** Plugin, with the driver of a CSI volume: `kubernetes.io/csi:DRIVER`. */
  readonly plugin: string;
  /** Path on the node; empty if it has none. */
  readonly path: string;
  /** Time at which it was staged for the pods of the node. */
  readonly stagedAt?: string;
  /** Time of the first mount since the last unmount. */
  readonly mountedAt?: string;
  /** Duration of that mount, in ms. */
  readonly mountMs?: number;
  /** Time at which a later process found or mounted it again. */
  readonly remountedAt?: string;
  readonly unmountedAt?: string;
  /** Failures since the last success. */
  readonly failures: number;
  /** Failures since the start of the pod. */
  readonly totalFailures: number;
  readonly lastFailedAt?: string;
  readonly lastError?: string;
}

/** Something that happened to a volume of a pod. */
export interface VolumeStep extends Pick<VolumeHistory, 'name' | 'volume' | 'plugin' | 'path'> {
  readonly step: 'Staged' | 'Mounted' | 'Failed';
  /** Duration of the step, in ms. */
  readonly ms?: number;
  readonly error?: string;
}
