import type {
  DeviceClass,
  DeviceToleration,
  DeviceSelector,
  ExactDeviceRequest,
} from '../../../../api/types/v1-device-resources.js';
import {SystemError} from '../../../../base/errors.js';
import type {AllocationInput, ClaimToAllocate} from './allocation-types.js';
import type {CapacityAmounts} from './device-capacity.js';
import type {PoolDevice} from './device-pools.js';

/** Most devices of a claim (AllocationResultsMaxSize). */
export const MOST_RESULTS = 32;

/** A request for devices, or one alternative of it. */
export interface Alternative {
  /** Name of the alternative; undefined for a request without any. */
  readonly name: string | undefined;
  readonly deviceClass: DeviceClass;
  readonly selectors: readonly DeviceSelector[];
  readonly takesAll: boolean;
  /** Number of devices, unless all are taken. */
  readonly count: number;
  readonly adminAccess: boolean;
  readonly tolerations: readonly DeviceToleration[];
  readonly capacity: Readonly<Record<string, string>> | undefined;
}

/** A request of a claim with its alternatives: one, if it asks for exactly something. */
export interface PlannedRequest {
  readonly claim: ClaimToAllocate;
  readonly name: string;
  readonly alternatives: readonly Alternative[];
}

/** A device that was chosen for a request. */
export interface Choice {
  readonly request: PlannedRequest;
  readonly alternative: Alternative;
  readonly device: PoolDevice;
  /** Capacity that is consumed of a device that allows several allocations; undefined for a device of its own. */
  readonly consumed: CapacityAmounts | undefined;
}

/** Returns the requests of a claim. Throws SystemError with the scheduler's text for a class that does not exist. */
export function planRequests(
  claim: ClaimToAllocate,
  {classes}: Pick<AllocationInput, 'classes'>,
): readonly PlannedRequest[] {
  return (claim.spec.devices.requests ?? []).map(({name, exactly, firstAvailable = []}) => {
    const exact = exactly === undefined ? [] : [{...exactly, name: undefined}];
    const alternatives = [...exact, ...firstAvailable].map((one) =>
      planAlternative(one, findClass(classes, one.deviceClassName, claim, name)),
    );
    return {claim, name, alternatives};
  });
}

function findClass(
  classes: readonly DeviceClass[],
  name: string,
  claim: ClaimToAllocate,
  request: string,
): DeviceClass {
  const found = classes.find(({metadata}) => metadata.name === name);
  if (found !== undefined) return found;
  throw new SystemError(`request ${request}: device class ${name} does not exist`, {
    hint: `add the DeviceClass "${name}" to the manifests of the claim "${claim.namespace}/${claim.name}"`,
  });
}

function planAlternative(
  {
    name,
    selectors = [],
    allocationMode,
    count = 0,
    adminAccess = false,
    tolerations = [],
    capacity,
  }: ExactDeviceRequest & {readonly name: string | undefined},
  deviceClass: DeviceClass,
): Alternative {
  return {
    ...{name, deviceClass, selectors, adminAccess, tolerations},
    takesAll: allocationMode === 'All',
    // Zero stands for the default.
    count: count === 0 ? 1 : count,
    capacity: capacity?.requests,
  };
}

/** Returns the name of a request in results: `request`, or `request/alternative`. */
export function requestName({name}: PlannedRequest, alternative: Pick<Alternative, 'name'>): string {
  return alternative.name === undefined ? name : `${name}/${alternative.name}`;
}
