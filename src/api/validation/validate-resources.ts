import type {FieldErrors} from '../field-error.js';
import {
  duplicateValue,
  forbidden,
  invalidValue,
  notFound,
  requiredValue,
  unsupportedValue,
} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {checkDnsLabel, checkQualifiedName, validateName} from './validate-names.js';
import {compareQuantities, parseQuantity, quantityMilliValue, quantityValue} from '../quantity.js';
import {
  POD_LEVEL_RESOURCES,
  aggregateContainerResources,
  quantityOf,
  isHugePageResource,
  isNativeResource,
  isOvercommitAllowed,
  isPodLevelResource,
} from '../resource-list.js';
import type {PodSpec} from '../types/v1-pod.js';
import type {Quantity, ResourceClaim, ResourceList, ResourceRequirements} from '../types/v1-meta.js';

const CONTAINER_RESOURCES: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];
/** Standard resource names without a prefix, some of them for quotas only (helper.IsStandardResourceName). */
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([
  ...CONTAINER_RESOURCES.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...[
    'persistentvolumeclaims',
    'storage',
    'requests.storage',
    'services.nodeports',
    'services.loadbalancers',
  ],
]);

type ValidateResourceName = (name: string, path: FieldPath) => FieldErrors;

/** Reports whether this is the name of an extended resource such as `example.com/dongle` (helper.IsExtendedResourceName). */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false;
  return checkQualifiedName(`requests.${name}`).length === 0;
}

/** Validates a resource name (validateResourceName). */
function* validateResourceName(name: string, path: FieldPath): FieldErrors {
  const problems = [...validateName(name, path, checkQualifiedName)];
  yield* problems;
  const known = name.includes('/') || STANDARD_RESOURCES.has(name) || /^(requests\.)?hugepages-/.test(name);
  if (problems.length === 0 && !known)
    yield invalidValue(path, name, 'must be a standard resource type or fully qualified');
}

/** Validates the name of a resource of a container (validateContainerResourceName). */
function* validateContainerResourceName(name: string, path: FieldPath): FieldErrors {
  yield* validateResourceName(name, path);
  if (!name.includes('/')) {
    if (!CONTAINER_RESOURCES.includes(name) && !isHugePageResource(name)) {
      yield invalidValue(path, name, 'must be a standard resource for containers');
    }
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    yield invalidValue(path, name, "doesn't follow extended resource name standard");
  }
}

/** Validates the name of a pod-level resource (validatePodResourceName). */
function* validatePodResourceName(name: string, path: FieldPath): FieldErrors {
  const problems = [...validateResourceName(name, path)];
  yield* problems;
  if (problems.length === 0 && !isPodLevelResource(name)) {
    yield unsupportedValue(path, name, [...POD_LEVEL_RESOURCES, 'hugepages-'].sort());
  }
}

/**
 * Reports whether the amount is a multiple of the page size in the resource's name (IsHugePageResourceValueDivisible).
 */
function isWholePages(name: string, amount: Quantity): boolean {
  const size = name.slice('hugepages-'.length);
  try {
    const {nanos} = parseQuantity(size);
    return nanos > 0n && nanos % 1_000_000_000n === 0n && quantityValue(amount) % quantityValue(size) === 0n;
  } catch {
    // An invalid page size divides nothing.
    return false;
  }
}

function* validateAmount(name: string, amount: Quantity, path: FieldPath): FieldErrors {
  if (compareQuantities(amount, '0') < 0) {
    yield invalidValue(path, amount, 'must be greater than or equal to 0');
  }
  if (isExtendedResource(name) && quantityMilliValue(amount) % 1000n !== 0n) {
    yield invalidValue(path, amount, 'must be an integer');
  }
  if (isHugePageResource(name) && !isWholePages(name, amount)) {
    yield invalidValue(path, amount, `${amount} is not positive integer multiple of ${name}`);
  }
}

function* validateAmounts(
  list: ResourceList,
  path: FieldPath,
  validateKey: ValidateResourceName,
): FieldErrors {
  for (const [name, amount] of Object.entries(list)) {
    yield* validateKey(name, path.key(name));
    yield* validateAmount(name, amount, path.key(name));
  }
}

/** Checks that a request does not exceed its limit, and equals it if the resource cannot be overcommitted. */
function* compareWithLimits(
  {limits = {}, requests = {}}: ResourceRequirements,
  path: FieldPath,
): FieldErrors {
  for (const [name, amount] of Object.entries(requests)) {
    const limit = quantityOf(limits, name);
    const at = path.child('requests');
    if (limit === undefined) {
      if (!isOvercommitAllowed(name)) {
        yield requiredValue(path.child('limits'), 'Limit must be set for non overcommitable resources');
      }
      continue;
    }
    const order = compareQuantities(amount, limit);
    if (order !== 0 && !isOvercommitAllowed(name)) {
      yield invalidValue(at, amount, `must be equal to ${name} limit of ${limit}`);
    } else if (order > 0) {
      yield invalidValue(at, amount, `must be less than or equal to ${name} limit of ${limit}`);
    }
  }
}

/** Returns the key that an entry shares with a duplicate: of the whole claim, or of one of its requests. */
function usedBefore(
  {name, request = ''}: ResourceClaim,
  earlier: readonly ResourceClaim[],
): string | undefined {
  const same = earlier.filter((other) => other.name !== '' && other.name === name);
  if (same.some((other) => request === '' || (other.request ?? '') === '')) return name;
  return same.some((other) => other.request === request) ? `${name}/${request}` : undefined;
}

/** Checks that a container uses a claim, or a request of it, once (validateResourceClaimNames). */
function* validateClaims(
  claims: readonly ResourceClaim[],
  path: FieldPath,
  known: ReadonlySet<string>,
): FieldErrors {
  const names = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  for (const [index, claim] of claims.entries()) {
    const at = path.index(index);
    if (claim.name === '') yield requiredValue(at);
    if (claim.request) yield* validateName(claim.request, at.child('request'), checkDnsLabel);
    const duplicate = usedBefore(claim, claims.slice(0, index));
    if (duplicate !== undefined) yield duplicateValue(at, duplicate);
    if (!known.has(claim.name)) {
      yield notFound(at, claim.name, `must be one of the names in pod.spec.resourceClaims${names}`);
    }
  }
}

function* validateRequirements(
  resources: ResourceRequirements,
  path: FieldPath,
  validateKey: ValidateResourceName,
): FieldErrors {
  yield* validateAmounts(resources.limits ?? {}, path.child('limits'), validateKey);
  yield* validateAmounts(resources.requests ?? {}, path.child('requests'), validateKey);
  yield* compareWithLimits(resources, path);
  const names = Object.keys({...resources.limits, ...resources.requests});
  if (names.some(isHugePageResource) && !names.includes('cpu') && !names.includes('memory')) {
    yield forbidden(path, 'HugePages require cpu or memory');
  }
}

/** Validates the resources of a container (ValidateContainerResourceRequirements). */
export function* validateContainerResources(
  resources: ResourceRequirements,
  path: FieldPath,
  claimNames: ReadonlySet<string>,
): FieldErrors {
  yield* validateRequirements(resources, path, validateContainerResourceName);
  yield* validateClaims(resources.claims ?? [], path.child('claims'), claimNames);
}

/** Validates the overhead of the RuntimeClass as the API server does, as limits of a container (validateOverhead). */
export function* validateOverhead(overhead: ResourceList, path: FieldPath): FieldErrors {
  yield* validateRequirements({limits: overhead}, path, validateContainerResourceName);
}

function* compareWithContainers(
  pod: ResourceRequirements,
  part: 'limits' | 'requests',
  spec: PodSpec,
  path: FieldPath,
): FieldErrors {
  for (const [name, needed] of Object.entries(aggregateContainerResources(spec, part))) {
    // The sum of the containers' limits may exceed the pod's limit, except for resources that cannot be overcommitted.
    if (part === 'limits' && !isHugePageResource(name)) continue;
    const amount = quantityOf(pod[part], name);
    if (amount !== undefined && compareQuantities(needed, amount) > 0) {
      const detail = `must be greater than or equal to aggregate container ${part} of ${needed}`;
      yield invalidValue(path.child(part).key(name), amount, detail);
    }
  }
}

/** Checks that no container's limit exceeds its pod's; the path of the error equals the API server's. */
function* compareLimitsWithPods(
  podLimits: ResourceList,
  path: FieldPath,
  {containers}: PodSpec,
): FieldErrors {
  for (const [index, {resources}] of containers.entries()) {
    for (const [name, amount] of Object.entries(resources?.limits ?? {})) {
      const most = quantityOf(podLimits, name);
      if (most !== undefined && compareQuantities(amount, most) > 0) {
        const at = path.child('containers').index(index).key(name).child('limits');
        yield invalidValue(at, amount, `must be less than or equal to pod limits of ${most}`);
      }
    }
  }
}

/** Validates pod-level resources against the containers' (validatePodResources). */
export function* validatePodResources(
  resources: ResourceRequirements,
  path: FieldPath,
  spec: PodSpec,
): FieldErrors {
  if (resources.claims !== undefined) {
    yield forbidden(path.child('claims'), 'claims may not be set for Resources at pod-level');
  }
  yield* validateRequirements(resources, path, validatePodResourceName);
  yield* compareWithContainers(resources, 'requests', spec, path);
  yield* compareWithContainers(resources, 'limits', spec, path);
  yield* compareLimitsWithPods(resources.limits ?? {}, path, spec);
}
