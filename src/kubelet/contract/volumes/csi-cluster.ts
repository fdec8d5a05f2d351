import type {Pod} from '../../../api/types/v1-pod.js';
import type {ClaimEvent, ClaimRef, ResizedClaim, ResizedClaimStatus} from './resized-claim.js';

/** A token that a CSI driver wants of the service account of each pod (storage/v1 TokenRequest). */
export interface CsiTokenRequest {
  /** Empty for the audience of the API server. */
  readonly audience: string;
  readonly expirationSeconds?: number;
}

/** Fields of a CSIDriver object that a node uses, with the defaults of the API server (storage/v1 CSIDriverSpec). */
export interface CsiDriverSpec {
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly fsGroupPolicy?: string;
  readonly volumeLifecycleModes?: readonly string[];
  readonly tokenRequests?: readonly CsiTokenRequest[] | null;
  readonly serviceAccountTokenInSecrets?: boolean;
  readonly requiresRepublish?: boolean;
  /** True if the driver supports the mount option `context`. */
  readonly seLinuxMount?: boolean;
  /** Period in which the driver is asked for the limit of its volumes; undefined if that does not change. */
  readonly nodeAllocatableUpdatePeriodSeconds?: number;
}

/** A driver that has registered on the node, as it describes itself (NodeGetInfo). */
export interface CsiDriverInfo {
  readonly name: string;
  /** Name of the node for the driver; not empty. */
  readonly nodeId: string;
  readonly topology: Readonly<Record<string, string>>;
  /** Most volumes on the node; 0 for no limit. */
  readonly maxVolumes: number;
}

/** Reference to a Secret. */
export interface CsiSecretRef {
  readonly name: string;
  readonly namespace: string;
}

/** Content of a Secret. The values must only reach the driver: never a message, log or file. */
export interface SecretContent {
  /** Empty if it is not known. */
  readonly type: string;
  readonly data: Readonly<Record<string, Uint8Array>>;
}

/** Limits of the volumes on the node, in the API server. Methods reject with KcriError, and with the signal's reason. */
export interface CsiLimits {
  /** Writes the limit of a driver to the CSINode (UpdateCSIDriver). */
  update(driver: CsiDriverInfo, signal: AbortSignal): Promise<void>;
  /** Resolves with whether a volume could not be attached because the node has too many (isResourceExhaustError). */
  isExhausted(attachment: string, signal: AbortSignal): Promise<boolean>;
  /** Calls the listener after each change of the CSIDriver objects. */
  onDriversChanged(listener: () => void): void;
}

/** Claims of volumes that are enlarged. */
export interface CsiClaims {
  /** Reads a claim from the API server. */
  claim(ref: ClaimRef, signal: AbortSignal): Promise<ResizedClaim>;
  /**
   * Changes the status of a claim, if it was not changed meanwhile, or else unless `isForced`. Returns the changed claim
   * (PatchPVCStatus).
   */
  patchClaim(
    claim: ResizedClaim,
    change: {readonly status: ResizedClaimStatus; readonly isForced: boolean},
    signal: AbortSignal,
  ): Promise<ResizedClaim>;
  /** Records an event about a claim. */
  claimEvent(claim: ResizedClaim, event: ClaimEvent): void;
}

/** What the CSI volumes of a node need of a cluster. Methods reject with KcriError, and with the signal's reason. */
export interface CsiCluster {
  /** True if controllers attach volumes to the node; otherwise nobody does. */
  readonly attachesVolumes: boolean;
  /** True if no volume is attached to the node, since there is no API server. */
  readonly attachesNothing?: boolean;
  /** True when the CSIDriver objects are known. */
  readonly knowsDrivers: boolean;
  /** None without an API server. */
  readonly limits?: CsiLimits | undefined;
  /** None if no volume is enlarged. */
  readonly claims?: CsiClaims | undefined;
  /** Resolves when the CSIDriver objects are known. */
  driversKnown(signal: AbortSignal): Promise<void>;
  /** Returns the CSIDriver object of a driver; undefined if there is none. */
  driver(name: string): CsiDriverSpec | undefined;
  secret(ref: CsiSecretRef, signal: AbortSignal): Promise<SecretContent>;
  /** Returns tokens of the pod's service account as drivers expect them, in JSON by audience. */
  tokens(pod: Pod, requests: readonly CsiTokenRequest[], signal: AbortSignal): Promise<string>;
  /**
   * Resolves when the API server is known to have a volume, by its unique name, in use by the node, and its controller has attached it,
   * with the device that the controller names.
   */
  untilAttached(volume: string, signal: AbortSignal): Promise<string>;
  /** Returns what the controller of the driver left for the node in a VolumeAttachment. Rejects if that is not attached. */
  publishContext(attachment: string, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** Adds a driver to Node and CSINode (InstallCSIDriver). */
  installDriver(driver: CsiDriverInfo, signal: AbortSignal): Promise<void>;
  /** Removes a driver from CSINode and Node (UninstallCSIDriver). */
  uninstallDriver(name: string, signal: AbortSignal): Promise<void>;
}
