import type {FieldErrors} from '../field-error.js';
import {
  duplicateValue,
  invalidValue,
  notFound,
  requiredValue,
  tooLong,
  tooMany,
  unsupportedValue,
} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {
  DeviceClass,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceToleration,
  ExactDeviceRequest,
  OfferedDevice,
  ResourceClaimSpec,
  ResourceSlice,
} from '../types/v1-device-resources.js';
import type {ApiObject} from '../types/v1-objects.js';
import {validateEach, validateIfSet, validatePositive, validateRequired} from './field-validators.js';
import {checkDnsLabel, checkDnsSubdomain, validateName} from './validate-names.js';
import {isExtendedResource} from './validate-resources.js';
import {validateNodeSelector} from './validate-scheduling.js';

/** Limits of the API (resource/v1 types.go). */
const MOST_REQUESTS = 32;
const MOST_SUB_REQUESTS = 8;
const MOST_SELECTORS = 32;
const MOST_CONSTRAINTS = 32;
const MOST_DEVICES = 128;
const MOST_ATTRIBUTES = 32;
const LONGEST_EXPRESSION = 10 * 1024;

const MODES = ['All', 'ExactCount'];
const TOLERATION_OPERATORS = ['Equal', 'Exists'];
const TAINT_EFFECTS = ['NoExecute', 'NoSchedule', 'None'];

const root = new FieldPath();

/** Validates an object of resource.k8s.io; others are left alone. */
export function* validateDeviceObject(object: ApiObject): FieldErrors {
  if (object.kind === 'ResourceClaim') yield* validateResourceClaimSpec(object.spec, root.child('spec'));
  if (object.kind === 'ResourceClaimTemplate')
    yield* validateResourceClaimSpec(object.spec.spec, root.child('spec', 'spec'));
  if (object.kind === 'DeviceClass') yield* validateDeviceClass(object);
  if (object.kind === 'ResourceSlice') yield* validateResourceSlice(object);
}

/** Validates what a claim asks for (the relevant part of validateResourceClaimSpec). */
function* validateResourceClaimSpec({devices}: ResourceClaimSpec, path: FieldPath): FieldErrors {
  const {requests = [], constraints = [], config = []} = devices;
  const at = path.child('devices');
  const names = requests.flatMap(({name, firstAvailable = []}) => [
    name,
    ...firstAvailable.map((alternative) => `${name}/${alternative.name}`),
  ]);
  yield* validateCount(requests, at.child('requests'), MOST_REQUESTS);
  yield* validateEach(requests, at.child('requests'), validateRequest);
  yield* validateDistinct(requests, at.child('requests'));
  yield* validateCount(constraints, at.child('constraints'), MOST_CONSTRAINTS);
  for (const [index, constraint] of constraints.entries())
    yield* validateConstraint(constraint, names, at.child('constraints').index(index));
  for (const [index, entry] of config.entries())
    yield* validateConfiguration(entry, names, at.child('config').index(index));
}

function* validateRequest({name, exactly, firstAvailable = []}: DeviceRequest, path: FieldPath): FieldErrors {
  yield* validateName(name, path.child('name'), checkDnsLabel);
  if (exactly === undefined && firstAvailable.length === 0)
    yield requiredValue(path, 'exactly one of `exactly` or `firstAvailable` is required');
  if (exactly !== undefined && firstAvailable.length > 0)
    yield invalidValue(path, name, 'exactly one of `exactly` or `firstAvailable` is required');
  if (exactly !== undefined) yield* validateExact(exactly, path.child('exactly'));
  const at = path.child('firstAvailable');
  yield* validateCount(firstAvailable, at, MOST_SUB_REQUESTS);
  yield* validateDistinct(firstAvailable, at);
  for (const [index, alternative] of firstAvailable.entries()) {
    yield* validateName(alternative.name, at.index(index).child('name'), checkDnsLabel);
    yield* validateExact(alternative, at.index(index));
  }
}

function* validateExact(
  {
    deviceClassName,
    selectors = [],
    allocationMode = '',
    count = 0,
    tolerations = [],
  }: Omit<ExactDeviceRequest, 'adminAccess'>,
  path: FieldPath,
): FieldErrors {
  yield* validateRequired(deviceClassName, path.child('deviceClassName'));
  if (deviceClassName !== '')
    yield* validateName(deviceClassName, path.child('deviceClassName'), checkDnsSubdomain);
  yield* validateSelectors(selectors, path.child('selectors'));
  const mode = allocationMode === '' ? 'ExactCount' : allocationMode;
  if (!MODES.includes(mode)) yield unsupportedValue(path.child('allocationMode'), mode, MODES);
  if (mode === 'All' && count !== 0)
    yield invalidValue(path.child('count'), count, "must not be specified when allocationMode is 'All'");
  // Without a count it is one (SetDefaults_ExactDeviceRequest).
  if (mode === 'ExactCount' && count !== 0) yield* validatePositive(count, path.child('count'));
  yield* validateEach(tolerations, path.child('tolerations'), validateDeviceToleration);
}

function* validateDeviceToleration(
  {key = '', operator = 'Equal', value = '', effect = ''}: DeviceToleration,
  path: FieldPath,
): FieldErrors {
  if (!TOLERATION_OPERATORS.includes(operator))
    yield unsupportedValue(path.child('operator'), operator, TOLERATION_OPERATORS);
  if (key === '' && operator !== 'Exists')
    yield invalidValue(path.child('operator'), operator, 'must be `Exists` when `key` is empty');
  if (operator === 'Exists' && value !== '')
    yield invalidValue(path.child('value'), value, 'must be empty for operator `Exists`');
  if (effect !== '' && !TAINT_EFFECTS.includes(effect))
    yield unsupportedValue(path.child('effect'), effect, TAINT_EFFECTS);
}

function* validateSelectors(selectors: readonly DeviceSelector[], path: FieldPath): FieldErrors {
  yield* validateCount(selectors, path, MOST_SELECTORS);
  for (const [index, {cel}] of selectors.entries()) {
    const at = path.index(index).child('cel');
    if (cel === undefined) yield requiredValue(at);
    else if (cel.expression === '') yield requiredValue(at.child('expression'));
    else if (cel.expression.length > LONGEST_EXPRESSION)
      yield tooLong(at.child('expression'), LONGEST_EXPRESSION);
  }
}

function* validateConstraint(
  {requests = [], matchAttribute, distinctAttribute}: DeviceConstraint,
  names: readonly string[],
  path: FieldPath,
): FieldErrors {
  yield* validateNamedRequests(requests, names, path.child('requests'));
  if (matchAttribute === undefined && distinctAttribute === undefined)
    yield requiredValue(path.child('matchAttribute'));
  for (const [field, name] of Object.entries({matchAttribute, distinctAttribute}))
    if (name !== undefined && !name.includes('/'))
      yield invalidValue(path.child(field), name, 'a valid C identifier must be prefixed with a domain');
}

function* validateConfiguration(
  {requests = [], opaque}: DeviceClaimConfiguration,
  names: readonly string[],
  path: FieldPath,
): FieldErrors {
  yield* validateNamedRequests(requests, names, path.child('requests'));
  if (opaque === undefined) yield requiredValue(path.child('opaque'));
  else yield* validateDriverName(opaque.driver, path.child('opaque', 'driver'));
}

function* validateNamedRequests(
  requests: readonly string[],
  names: readonly string[],
  path: FieldPath,
): FieldErrors {
  for (const [index, name] of requests.entries())
    if (!names.includes(name))
      yield notFound(path.index(index), name, 'must be the name of a request in the claim');
}

/** Validates a DeviceClass (ValidateClass). */
function* validateDeviceClass({spec}: DeviceClass): FieldErrors {
  const path = root.child('spec');
  const {selectors = [], config = [], extendedResourceName: extended} = spec;
  yield* validateSelectors(selectors, path.child('selectors'));
  for (const [index, entry] of config.entries())
    yield* validateConfiguration(entry, [], path.child('config').index(index));
  if (extended !== undefined && !isExtendedResource(extended))
    yield invalidValue(
      path.child('extendedResourceName'),
      extended,
      'must be a valid extended resource name',
    );
}

/** Validates a ResourceSlice (the relevant part of ValidateResourceSlice). */
function* validateResourceSlice({spec}: ResourceSlice): FieldErrors {
  const path = root.child('spec');
  const {driver, pool, devices = [], sharedCounters = [], nodeName, nodeSelector, allNodes} = spec;
  yield* validateDriverName(driver, path.child('driver'));
  yield* validateRequired(pool.name, path.child('pool', 'name'));
  yield* validatePositive(pool.resourceSliceCount, path.child('pool', 'resourceSliceCount'));
  const chosen = [
    nodeName,
    nodeSelector,
    allNodes === true || undefined,
    spec.perDeviceNodeSelection === true || undefined,
  ].filter((one) => one !== undefined);
  if (chosen.length !== 1)
    yield requiredValue(
      path,
      'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
    );
  yield* validateIfSet(nodeSelector, path.child('nodeSelector'), validateNodeSelector);
  yield* validateCount(devices, path.child('devices'), MOST_DEVICES);
  yield* validateEach(devices, path.child('devices'), validateDevice);
  yield* validateDistinct(devices, path.child('devices'));
  if (sharedCounters.length > 0 && devices.length > 0)
    yield invalidValue(path, pool.name, 'only one of `devices` and `sharedCounters` may be set');
  yield* validateDistinct(sharedCounters, path.child('sharedCounters'));
}

function* validateDevice(device: OfferedDevice, path: FieldPath): FieldErrors {
  const {name, attributes = {}, capacity = {}, taints = []} = device;
  yield* validateName(name, path.child('name'), checkDnsLabel);
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  if (count > MOST_ATTRIBUTES) yield tooMany(path, count, MOST_ATTRIBUTES);
  for (const [key, attribute] of Object.entries(attributes))
    if (Object.keys(attribute).length !== 1)
      yield invalidValue(
        path.child('attributes').key(key),
        attribute,
        'exactly one of `bool`, `int`, `string`, `version` is required',
      );
  for (const [index, {key, effect}] of taints.entries()) {
    const at = path.child('taints').index(index);
    yield* validateRequired(key, at.child('key'));
    if (!TAINT_EFFECTS.includes(effect)) yield unsupportedValue(at.child('effect'), effect, TAINT_EFFECTS);
  }
}

function* validateDriverName(name: string, path: FieldPath): FieldErrors {
  yield* validateRequired(name, path);
  if (name !== '') yield* validateName(name.toLowerCase(), path, checkDnsSubdomain);
}

function* validateCount(entries: readonly unknown[], path: FieldPath, most: number): FieldErrors {
  if (entries.length > most) yield tooMany(path, entries.length, most);
}

function* validateDistinct(entries: readonly {readonly name: string}[], path: FieldPath): FieldErrors {
  for (const [index, {name}] of entries.entries())
    if (entries.findIndex((other) => other.name === name) < index)
      yield duplicateValue(path.index(index).child('name'), name);
}
