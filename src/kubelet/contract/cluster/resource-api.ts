import type {DeviceClaim} from '../../../api/types/v1-resource-claims.js';

/** Objects of resource.k8s.io in an API server. */
export interface ResourceApi {
  /** Reads a ResourceClaim. Rejects with the API server's error, and with the signal's reason. */
  claim(namespace: string, name: string, signal: AbortSignal): Promise<DeviceClaim>;
  /** Deletes the ResourceSlices of a driver on this node; tries until it succeeds. Rejects with the signal's reason. */
  deleteSlices(driver: string, signal: AbortSignal): Promise<void>;
}
