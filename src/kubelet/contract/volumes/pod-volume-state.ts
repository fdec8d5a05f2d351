import type {DriverUsage} from './driver-usage.js';

/** A volume that containers of a pod mount. */
export interface PodVolumeState {
  /** Name in the pod. */
  readonly name: string;
  /** Name of the plugin in metrics, such as `kubernetes.io/nfs`; undefined if the volume cannot be mounted now. */
  readonly plugin: string | undefined;
  /** Path on the node; empty if it has none. */
  readonly path: string;
  /** Name of its PersistentVolumeClaim in the namespace of the pod; undefined without one. */
  readonly claim: string | undefined;
  /** True if this process has mounted the volume. */
  readonly isMounted: boolean;
  /** True if the usage of the volume is that of its filesystem, as its driver says; by default that follows from the plugin. */
  readonly isFilesystem?: boolean;
  /** Asks the driver of the volume for its usage; undefined for a volume that is measured by its files. See CsiVolumes. */
  readonly measure?: (() => Promise<DriverUsage | undefined>) | undefined;
}
