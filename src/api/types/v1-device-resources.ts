import {
  type Described,
  anything,
  bool,
  enumeration,
  int64,
  list,
  map,
  object,
  quantity,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {objectMeta} from './v1-meta.js';
import {nodeSelector} from './v1-scheduling.js';

/** API version in which the objects of DRA are kept; older ones are converted. */
export const RESOURCE_API = 'resource.k8s.io/v1';

/** A condition on devices, in CEL. */
export interface CelDeviceSelector extends Described<typeof celDeviceSelector> {}
const celDeviceSelector = schemaOf<CelDeviceSelector>('CELDeviceSelector')({
  expression: required(text),
});

/** A condition on devices. */
export interface DeviceSelector extends Described<typeof deviceSelector> {}
export const deviceSelector = schemaOf<DeviceSelector>('DeviceSelector')({
  cel: object(celDeviceSelector),
});

/** Taints that a request tolerates. */
export interface DeviceToleration extends Described<typeof deviceToleration> {}
export const deviceToleration = schemaOf<DeviceToleration>('DeviceToleration')({
  key: text,
  /** `Equal` by default. */
  operator: text,
  value: text,
  effect: text,
  tolerationSeconds: int64,
});

/** Capacity that a request consumes of a device that several requests share. */
export interface CapacityRequirements extends Described<typeof capacityRequirements> {}
export const capacityRequirements = schemaOf<CapacityRequirements>('CapacityRequirements')({
  requests: map(quantity),
});

/** A request for devices of one class. */
export interface ExactDeviceRequest extends Described<typeof exactDeviceRequest> {}
export const exactDeviceRequest = schemaOf<ExactDeviceRequest>('ExactDeviceRequest')({
  deviceClassName: required(text),
  selectors: list(object(deviceSelector)),
  /** `ExactCount` by default, or `All`. */
  allocationMode: text,
  /** 1 by default. */
  count: int64,
  adminAccess: bool,
  tolerations: list(object(deviceToleration)),
  capacity: object(capacityRequirements),
});

/** An alternative of a request. */
export interface DeviceSubRequest extends Described<typeof deviceSubRequest> {}
export const deviceSubRequest = schemaOf<DeviceSubRequest>('DeviceSubRequest')({
  name: required(text),
  deviceClassName: required(text),
  selectors: list(object(deviceSelector)),
  allocationMode: text,
  count: int64,
  tolerations: list(object(deviceToleration)),
  capacity: object(capacityRequirements),
});

/** A request for devices: either exactly these, or the first alternative that is available. */
export interface DeviceRequest extends Described<typeof deviceRequest> {}
const deviceRequest = schemaOf<DeviceRequest>('DeviceRequest')({
  name: required(text),
  exactly: object(exactDeviceRequest),
  firstAvailable: list(object(deviceSubRequest)),
});

/** A condition on all devices of some requests; of all requests, if it names none. */
export interface DeviceConstraint extends Described<typeof deviceConstraint> {}
export const deviceConstraint = schemaOf<DeviceConstraint>('DeviceConstraint')({
  requests: list(text),
  matchAttribute: text,
  distinctAttribute: text,
});

/** Opaque parameters: only the driver interprets them. */
export interface OpaqueDeviceConfiguration extends Described<typeof opaqueDeviceConfiguration> {}
const opaqueDeviceConfiguration = schemaOf<OpaqueDeviceConfiguration>('OpaqueDeviceConfiguration')({
  driver: required(text),
  parameters: required(anything),
});

/** Parameters for the devices of some requests; of all requests, if it names none. */
export interface DeviceClaimConfiguration extends Described<typeof deviceClaimConfiguration> {}
export const deviceClaimConfiguration = schemaOf<DeviceClaimConfiguration>('DeviceClaimConfiguration')({
  requests: list(text),
  opaque: object(opaqueDeviceConfiguration),
});

/** Devices that a claim asks for (resource/v1 DeviceClaim). */
export interface RequestedDevices extends Described<typeof requestedDevices> {}
const requestedDevices = schemaOf<RequestedDevices>('resource.k8s.io/DeviceClaim')({
  requests: list(object(deviceRequest)),
  constraints: list(object(deviceConstraint)),
  config: list(object(deviceClaimConfiguration)),
});

/** Spec of a ResourceClaim. */
export interface ResourceClaimSpec extends Described<typeof resourceClaimSpec> {}
const resourceClaimSpec = schemaOf<ResourceClaimSpec>('ResourceClaimSpec')({
  devices: required(object(requestedDevices)),
});

/** A claim to devices in a manifest. Its status has no effect: kcri allocates. */
export interface ManifestResourceClaim extends Described<typeof manifestResourceClaim> {}
export const manifestResourceClaim = schemaOf<ManifestResourceClaim>('resource.k8s.io/v1 ResourceClaim')({
  apiVersion: required(enumeration([RESOURCE_API])),
  kind: required(enumeration(['ResourceClaim'])),
  metadata: required(object(objectMeta)),
  spec: required(object(resourceClaimSpec)),
  status: anything,
});

/** Metadata and spec of the claims that are created from a template. */
export interface ResourceClaimTemplateSpec extends Described<typeof resourceClaimTemplateSpec> {}
const resourceClaimTemplateSpec = schemaOf<ResourceClaimTemplateSpec>('ResourceClaimTemplateSpec')({
  metadata: object(objectMeta),
  spec: required(object(resourceClaimSpec)),
});

/** A template from which each pod gets a claim of its own (resource/v1 ResourceClaimTemplate). */
export interface ResourceClaimTemplate extends Described<typeof resourceClaimTemplate> {}
export const resourceClaimTemplate = schemaOf<ResourceClaimTemplate>('ResourceClaimTemplate')({
  apiVersion: required(enumeration([RESOURCE_API])),
  kind: required(enumeration(['ResourceClaimTemplate'])),
  metadata: required(object(objectMeta)),
  spec: required(object(resourceClaimTemplateSpec)),
});

/** Parameters for the devices of a class. */
export interface DeviceClassConfiguration extends Described<typeof deviceClassConfiguration> {}
const deviceClassConfiguration = schemaOf<DeviceClassConfiguration>('DeviceClassConfiguration')({
  opaque: object(opaqueDeviceConfiguration),
});

/** Spec of a DeviceClass: selectors of its devices, and their configuration. */
export interface DeviceClassSpec extends Described<typeof deviceClassSpec> {}
const deviceClassSpec = schemaOf<DeviceClassSpec>('DeviceClassSpec')({
  selectors: list(object(deviceSelector)),
  config: list(object(deviceClassConfiguration)),
  extendedResourceName: text,
});

/** A class of devices (resource/v1 DeviceClass, cluster-scoped). */
export interface DeviceClass extends Described<typeof deviceClass> {}
export const deviceClass = schemaOf<DeviceClass>('DeviceClass')({
  apiVersion: required(enumeration([RESOURCE_API])),
  kind: required(enumeration(['DeviceClass'])),
  metadata: required(object(objectMeta)),
  spec: required(object(deviceClassSpec)),
});

/** An attribute of a device; exactly one field is set. */
export interface DeviceAttribute extends Described<typeof deviceAttribute> {}
export const deviceAttribute = schemaOf<DeviceAttribute>('DeviceAttribute')({
  int: int64,
  bool,
  string: text,
  version: text,
});

/** Amounts of a capacity that can be requested. */
export interface CapacityRequestPolicyRange extends Described<typeof capacityRequestPolicyRange> {}
const capacityRequestPolicyRange = schemaOf<CapacityRequestPolicyRange>('CapacityRequestPolicyRange')({
  min: quantity,
  max: quantity,
  step: quantity,
});

/** Policy by which the consumed amount of a capacity is computed from the requested one. */
export interface CapacityRequestPolicy extends Described<typeof capacityRequestPolicy> {}
const capacityRequestPolicy = schemaOf<CapacityRequestPolicy>('CapacityRequestPolicy')({
  default: quantity,
  validValues: list(quantity),
  validRange: object(capacityRequestPolicyRange),
});

/** A capacity of a device. */
export interface DeviceCapacity extends Described<typeof deviceCapacity> {}
export const deviceCapacity = schemaOf<DeviceCapacity>('DeviceCapacity')({
  value: required(quantity),
  requestPolicy: object(capacityRequestPolicy),
});

/** A counter that several devices share, or an amount of it. */
export interface Counter extends Described<typeof counter> {}
const counter = schemaOf<Counter>('Counter')({value: required(quantity)});

/** Counters that devices of a pool share. */
export interface CounterSet extends Described<typeof counterSet> {}
export const counterSet = schemaOf<CounterSet>('CounterSet')({
  name: required(text),
  counters: map(object(counter)),
});

/** Amounts that a device takes of a counter set while it is allocated. */
export interface DeviceCounterConsumption extends Described<typeof deviceCounterConsumption> {}
export const deviceCounterConsumption = schemaOf<DeviceCounterConsumption>('DeviceCounterConsumption')({
  counterSet: required(text),
  counters: map(object(counter)),
});

/** A taint of a device. */
export interface DeviceTaint extends Described<typeof deviceTaint> {}
export const deviceTaint = schemaOf<DeviceTaint>('DeviceTaint')({
  key: required(text),
  value: text,
  effect: required(text),
  timeAdded: text,
});

/** A device that a driver offers. */
export interface OfferedDevice extends Described<typeof offeredDevice> {}
export const offeredDevice = schemaOf<OfferedDevice>('resource.k8s.io/Device')({
  name: required(text),
  attributes: map(object(deviceAttribute)),
  capacity: map(object(deviceCapacity)),
  consumesCounters: list(object(deviceCounterConsumption)),
  nodeName: text,
  nodeSelector: object(nodeSelector),
  allNodes: bool,
  taints: list(object(deviceTaint)),
  bindsToNode: bool,
  bindingConditions: list(text),
  bindingFailureConditions: list(text),
  allowMultipleAllocations: bool,
});

/** The pool that a slice belongs to. */
export interface ResourcePool extends Described<typeof resourcePool> {}
export const resourcePool = schemaOf<ResourcePool>('ResourcePool')({
  name: required(text),
  generation: int64,
  resourceSliceCount: required(int64),
});

/** Devices of one pool, or a part of them. */
export interface ResourceSliceSpec extends Described<typeof resourceSliceSpec> {}
const resourceSliceSpec = schemaOf<ResourceSliceSpec>('ResourceSliceSpec')({
  driver: required(text),
  pool: required(object(resourcePool)),
  nodeName: text,
  nodeSelector: object(nodeSelector),
  allNodes: bool,
  devices: list(object(offeredDevice)),
  perDeviceNodeSelection: bool,
  sharedCounters: list(object(counterSet)),
});

/** Devices that a driver offers (resource/v1 ResourceSlice, cluster-scoped). */
export interface ResourceSlice extends Described<typeof resourceSlice> {}
export const resourceSlice = schemaOf<ResourceSlice>('ResourceSlice')({
  apiVersion: required(enumeration([RESOURCE_API])),
  kind: required(enumeration(['ResourceSlice'])),
  metadata: required(object(objectMeta)),
  spec: required(object(resourceSliceSpec)),
});
