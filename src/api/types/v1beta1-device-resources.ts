import {
  type Described,
  anything,
  bool,
  int64,
  list,
  map,
  object,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {
  capacityRequirements,
  counterSet,
  deviceAttribute,
  deviceCapacity,
  deviceClaimConfiguration,
  deviceConstraint,
  deviceCounterConsumption,
  deviceSelector,
  deviceSubRequest,
  deviceTaint,
  deviceToleration,
  RESOURCE_API,
  resourcePool,
  type DeviceRequest,
  type ManifestResourceClaim,
  type OfferedDevice,
  type ResourceClaimSpec,
  type ResourceClaimTemplate,
  type ResourceSlice,
} from './v1-device-resources.js';
import {objectMeta} from './v1-meta.js';
import {nodeSelector} from './v1-scheduling.js';

/** A request of v1beta1: its own fields are those of `exactly`. */
interface BetaRequest extends Described<typeof betaRequest> {}
const betaRequest = schemaOf<BetaRequest>('v1beta1 DeviceRequest')({
  name: required(text),
  deviceClassName: text,
  selectors: list(object(deviceSelector)),
  allocationMode: text,
  count: int64,
  adminAccess: bool,
  firstAvailable: list(object(deviceSubRequest)),
  tolerations: list(object(deviceToleration)),
  capacity: object(capacityRequirements),
});

interface BetaDevices extends Described<typeof betaDevices> {}
const betaDevices = schemaOf<BetaDevices>('v1beta1 DeviceClaim')({
  requests: list(object(betaRequest)),
  constraints: list(object(deviceConstraint)),
  config: list(object(deviceClaimConfiguration)),
});

interface BetaClaimSpec extends Described<typeof betaClaimSpec> {}
const betaClaimSpec = schemaOf<BetaClaimSpec>('v1beta1 ResourceClaimSpec')({
  devices: required(object(betaDevices)),
});

/** A ResourceClaim of resource.k8s.io/v1beta1. */
export interface BetaResourceClaim extends Described<typeof betaResourceClaim> {}
export const betaResourceClaim = schemaOf<BetaResourceClaim>('v1beta1 ResourceClaim')({
  apiVersion: text,
  kind: text,
  metadata: required(object(objectMeta)),
  spec: required(object(betaClaimSpec)),
  status: anything,
});

interface BetaTemplateSpec extends Described<typeof betaTemplateSpec> {}
const betaTemplateSpec = schemaOf<BetaTemplateSpec>('v1beta1 ResourceClaimTemplateSpec')({
  metadata: object(objectMeta),
  spec: required(object(betaClaimSpec)),
});

/** A ResourceClaimTemplate of resource.k8s.io/v1beta1. */
export interface BetaResourceClaimTemplate extends Described<typeof betaResourceClaimTemplate> {}
export const betaResourceClaimTemplate = schemaOf<BetaResourceClaimTemplate>('v1beta1 ResourceClaimTemplate')(
  {
    apiVersion: text,
    kind: text,
    metadata: required(object(objectMeta)),
    spec: required(object(betaTemplateSpec)),
  },
);

interface BasicDevice extends Described<typeof basicDevice> {}
const basicDevice = schemaOf<BasicDevice>('v1beta1 BasicDevice')({
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

/** A device of v1beta1: everything but its name is in `basic`. */
interface BetaDevice extends Described<typeof betaDevice> {}
const betaDevice = schemaOf<BetaDevice>('v1beta1 Device')({
  name: required(text),
  basic: object(basicDevice),
});

interface BetaSliceSpec extends Described<typeof betaSliceSpec> {}
const betaSliceSpec = schemaOf<BetaSliceSpec>('v1beta1 ResourceSliceSpec')({
  driver: required(text),
  pool: required(object(resourcePool)),
  nodeName: text,
  nodeSelector: object(nodeSelector),
  allNodes: bool,
  devices: list(object(betaDevice)),
  perDeviceNodeSelection: bool,
  sharedCounters: list(object(counterSet)),
});

/** A ResourceSlice of resource.k8s.io/v1beta1. */
export interface BetaResourceSlice extends Described<typeof betaResourceSlice> {}
export const betaResourceSlice = schemaOf<BetaResourceSlice>('v1beta1 ResourceSlice')({
  apiVersion: text,
  kind: text,
  metadata: required(object(objectMeta)),
  spec: required(object(betaSliceSpec)),
});

/** Converts a claim of v1beta1 (Convert_v1beta1_ResourceClaim). */
export function convertBetaClaim({metadata, spec}: BetaResourceClaim): ManifestResourceClaim {
  return {apiVersion: RESOURCE_API, kind: 'ResourceClaim', metadata, spec: convertSpec(spec)};
}

/** Converts a template of v1beta1. */
export function convertBetaTemplate({metadata, spec}: BetaResourceClaimTemplate): ResourceClaimTemplate {
  return {
    ...{apiVersion: RESOURCE_API, kind: 'ResourceClaimTemplate', metadata},
    spec: {...spec, spec: convertSpec(spec.spec)},
  };
}

/** Converts a slice of v1beta1. */
export function convertBetaSlice({metadata, spec}: BetaResourceSlice): ResourceSlice {
  const {devices, nodeName = '', ...others} = spec;
  return {
    ...{apiVersion: RESOURCE_API, kind: 'ResourceSlice', metadata},
    spec: {
      ...others,
      ...(nodeName !== '' && {nodeName}),
      ...(devices !== undefined && {devices: devices.map(convertDevice)}),
    },
  };
}

function convertSpec({devices}: BetaClaimSpec): ResourceClaimSpec {
  const {requests, ...others} = devices;
  return {devices: {...others, ...(requests !== undefined && {requests: requests.map(convertRequest)})}};
}

/** Converts a request; any field of its own makes it one for exactly that, which validation may refuse. */
function convertRequest(request: BetaRequest): DeviceRequest {
  const {name, firstAvailable, deviceClassName = '', ...others} = request;
  const isExact = deviceClassName !== '' || Object.keys(others).length > 0;
  return {
    name,
    ...(isExact && {exactly: {...others, deviceClassName}}),
    ...(firstAvailable !== undefined && {firstAvailable}),
  };
}

function convertDevice({name, basic}: BetaDevice): OfferedDevice {
  return {name, ...basic};
}
