import {bool, list, object, required, schemaOf, text, type Described} from '../schema/object-schema.js';
import {objectMeta} from './v1-meta.js';

/** Device that was allocated for a request of a claim. */
export interface DeviceRequestAllocationResult extends Described<typeof deviceRequestAllocationResult> {}
const deviceRequestAllocationResult = schemaOf<DeviceRequestAllocationResult>(
  'DeviceRequestAllocationResult',
)({
  request: text,
  driver: required(text),
  pool: text,
  device: text,
  adminAccess: bool,
});

/** Devices that were allocated for a claim. */
export interface DeviceAllocationResult extends Described<typeof deviceAllocationResult> {}
const deviceAllocationResult = schemaOf<DeviceAllocationResult>('DeviceAllocationResult')({
  results: list(object(deviceRequestAllocationResult)),
});

/** Result of the allocation of a claim by the scheduler. */
export interface AllocationResult extends Described<typeof allocationResult> {}
const allocationResult = schemaOf<AllocationResult>('AllocationResult')({
  devices: object(deviceAllocationResult),
});

/** A pod or another object that may use a claim. */
export interface ResourceClaimConsumerReference extends Described<typeof resourceClaimConsumerReference> {}
const resourceClaimConsumerReference = schemaOf<ResourceClaimConsumerReference>(
  'ResourceClaimConsumerReference',
)({
  apiGroup: text,
  resource: required(text),
  name: required(text),
  uid: required(text),
});

/** State of a claim, as far as a kubelet reads it. */
export interface ResourceClaimStatus extends Described<typeof resourceClaimStatus> {}
const resourceClaimStatus = schemaOf<ResourceClaimStatus>('ResourceClaimStatus')({
  allocation: object(allocationResult),
  reservedFor: list(object(resourceClaimConsumerReference)),
});

/** A claim to devices (resource/v1 ResourceClaim). That of core/v1 is a reference of a container. */
export interface DeviceClaim extends Described<typeof deviceClaim> {}
export const deviceClaim = schemaOf<DeviceClaim>('resource.k8s.io/ResourceClaim')({
  apiVersion: text,
  kind: text,
  metadata: required(object(objectMeta)),
  status: object(resourceClaimStatus),
});
