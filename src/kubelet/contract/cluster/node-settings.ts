import type {Taint} from '../../../api/types/v1-node.js';

/** Settings of the node that come from the configuration of the kubelet. */
export interface NodeSettings {
  readonly maxPods: number;
  /** Port of the kubelet's HTTPS server. */
  readonly port: number;
  readonly providerId: string;
  /** True if a cloud controller manager initializes the node (--cloud-provider=external). */
  readonly externalCloudProvider: boolean;
  readonly registerWithTaints: readonly Taint[];
  /** True if controllers attach the volumes of the node (enableControllerAttachDetach): the kubelet attaches none itself. */
  readonly controllerAttaches: boolean;
  /** Number of images in the status; -1 for all (nodeStatusMaxImages). */
  readonly maxImages: number;
}
