/** What happened to a volume of a pod. Times are in RFC 3339. */
export interface VolumeHistory extends RecordedVolume {
  /** Time at which it was staged for the pods of the node. */
  readonly stagedAt?: string;
  /** Time of the first mount since the last unmount. */
  readonly mountedAt?: string;
  /** Duration of that mount, in ms. */
  readonly mountMs?: number;
  /** Time at which another process set it up again. */
  readonly remountedAt?: string;
  readonly unmountedAt?: string;
  /** Failures since the last success. */
  readonly failures: number;
  readonly totalFailures: number;
  readonly lastFailedAt?: string;
  readonly lastError?: string;
}

/** A volume of a pod that has a history. */
export interface RecordedVolume {
  /** Name in the pod. */
  readonly name: string;
  /** Name of the volume's directory: that of the PersistentVolume, if there is one. */
  readonly volume: string;
  /** Plugin, with the driver of a CSI volume: `kubernetes.io/csi:DRIVER`. */
  readonly plugin: string;
  /** Path on the node; empty if it has none. */
  readonly path: string;
}

/** Something that happened to a volume of a pod, or to all of them when the pod ends. */
export type VolumeStep =
  | {readonly step: 'Staged'; readonly volume: RecordedVolume}
  | {readonly step: 'Mounted'; readonly volume: RecordedVolume; readonly ms: number}
  | {readonly step: 'Failed'; readonly volume: RecordedVolume; readonly error: string}
  | {readonly step: 'Unmounted'}
  | {readonly step: 'UnmountFailed'; readonly error: string};

/** Receives the steps of a pod's volumes. */
export type VolumeStepSink = (step: VolumeStep) => void;
