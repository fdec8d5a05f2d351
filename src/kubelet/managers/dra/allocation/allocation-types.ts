import type {
  DeviceClass,
  DeviceClaimConfiguration,
  DeviceToleration,
  OfferedDevice,
  ResourceClaimSpec,
  ResourceSlice,
} from '../../../../api/types/v1-device-resources.js';
import type {NodeSelector} from '../../../../api/types/v1-scheduling.js';
import type {DeviceId} from './device-id.js';

/** A device that was allocated for a request (resource/v1 DeviceRequestAllocationResult). */
export interface AllocatedDevice extends DeviceId {
  /** Name of the request; `request/alternative` for the chosen alternative of one. */
  readonly request: string;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly shareID?: string;
  readonly consumedCapacity?: Readonly<Record<string, string>>;
}

/** Configuration of allocated devices, with where it comes from. */
export interface AllocatedConfiguration extends DeviceClaimConfiguration {
  readonly source: 'FromClass' | 'FromClaim';
}

/** Result of the allocation of a claim (resource/v1 AllocationResult). */
export interface Allocation {
  readonly devices: {
    readonly results: readonly AllocatedDevice[];
    readonly config?: readonly AllocatedConfiguration[];
  };
  readonly nodeSelector?: NodeSelector;
}

/** A claim to allocate. */
export interface ClaimToAllocate {
  readonly namespace: string;
  readonly name: string;
  readonly spec: ResourceClaimSpec;
}

/** The node that devices are allocated for. */
export interface AllocationNode {
  readonly name: string;
  readonly matches: (selector: NodeSelector) => boolean;
}

/** Reports whether a device matches a CEL expression. Throws SystemError if that cannot be evaluated. */
export type MatchesSelector = (expression: string, device: SelectableDevice) => boolean;

/** What selectors see of a device. */
export interface SelectableDevice extends Pick<
  OfferedDevice,
  'attributes' | 'capacity' | 'allowMultipleAllocations'
> {
  readonly driver: string;
}

/** What was allocated before. */
export interface AllocatedState {
  readonly devices: readonly AllocatedDevice[];
}

/** What an allocation works with. */
export interface AllocationInput {
  readonly claims: readonly ClaimToAllocate[];
  readonly classes: readonly DeviceClass[];
  readonly slices: readonly ResourceSlice[];
  readonly node: AllocationNode;
  readonly allocated: AllocatedState;
  readonly matches: MatchesSelector;
  /** Returns a new ID of a share of a device. */
  readonly newShareId: () => string;
}
