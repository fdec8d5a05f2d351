import type {Quantity} from '../../../api/types/v1-meta.js';

/** Amounts by resource, of which `storage` matters. */
type Storage = Readonly<Record<string, Quantity>>;

/** Condition in the status of a claim. */
export interface ClaimCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Change of the attributes of a volume (core/v1 ModifyVolumeStatus). */
export interface ModifyVolumeStatus {
  /** Undefined until the class was found once. */
  readonly targetVolumeAttributesClassName?: string | undefined;
  readonly status: 'Pending' | 'InProgress' | 'Infeasible';
}

/** Status of a claim as the API server has it, with the fields of a resize (core/v1 PersistentVolumeClaimStatus). */
export interface ResizedClaimStatus {
  readonly capacity?: Storage;
  readonly allocatedResources?: Storage;
  readonly allocatedResourceStatuses?: Readonly<Record<string, string>> | undefined;
  readonly conditions?: readonly ClaimCondition[];
  /** Class of the attributes that the volume has. */
  readonly currentVolumeAttributesClassName?: string | undefined;
  /** Change of the attributes that has not succeeded. */
  readonly modifyVolumeStatus?: ModifyVolumeStatus | undefined;
  readonly [field: string]: unknown;
}

/** A claim whose volume is enlarged. */
export interface ResizedClaim {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly resources?: {readonly requests?: Storage};
  };
  readonly status?: ResizedClaimStatus;
}

/** An event about a claim. */
export interface ClaimEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Name of a claim. */
export interface ClaimRef {
  readonly namespace: string;
  readonly name: string;
}
