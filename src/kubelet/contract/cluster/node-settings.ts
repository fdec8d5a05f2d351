import type {Taint} from '../../../api/types/v1-node.js';

/** Settings of the node that come from the configuration of the kubelet. */
export interface NodeSettings {
  readonly maxPods: number;
  /** Port of the kubelet's HTTPS server. */
  readonly port: number;
  readonly providerId: string;
  readonly registerWithTaints: readonly Taint[];
  /** Number of images in the status; -1 for all (nodeStatusMaxImages). */
  readonly maxImages: number;
}
