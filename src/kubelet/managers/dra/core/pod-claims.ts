import {isExtendedResource} from '../../../../api/validation/validate-resources.js';
import {quantityValue} from '../../../../api/quantity.js';
import type {DeviceClaim} from '../../../../api/types/v1-resource-claims.js';
import type {Container, Pod, PodResourceClaim} from '../../../../api/types/v1-pod.js';
import {SystemError} from '../../../../base/errors.js';
import {goQuote} from '../../../../format/go-quote.js';
import {podRef} from '../../../contract/pod-ref.js';
import {newClaim, type ClaimInfo} from './claim-info.js';

/** Prefix of implicit extended resources, which are named after a DeviceClass (ResourceDeviceClassPrefix). */
export const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

/** A ResourceClaim that a pod refers to. */
export interface ClaimReference {
  readonly name: string;
  /** True if it was created for the pod from a template, and must belong to it. */
  readonly isOwned: boolean;
}

/**
 * Returns the ResourceClaim of an entry of `spec.resourceClaims`; undefined if the entry needs none (resourceclaim.Name).
 *
 * @throws SystemError if the claim was not created yet.
 */
export function claimReference(
  pod: Pod,
  {name: entry, resourceClaimName, resourceClaimTemplateName}: PodResourceClaim,
): ClaimReference | undefined {
  const {namespace, name} = podRef(pod);
  if (resourceClaimName !== undefined) return {name: resourceClaimName, isOwned: false};
  if (resourceClaimTemplateName === undefined)
    throw new SystemError(
      `pod "${namespace}/${name}", spec.resourceClaim ${goQuote(entry)}: none of the supported fields are set`,
    );
  const created = pod.status?.resourceClaimStatuses?.find((each) => each.name === entry);
  if (created === undefined)
    throw new SystemError(`pod "${namespace}/${name}": ResourceClaim not created yet`);
  const {resourceClaimName: claim} = created;
  return claim === undefined ? undefined : {name: claim, isOwned: true};
}

/**
 * Returns the ResourceClaims that a pod refers to, each once: those of its spec, and the one that the scheduler has created for
 * its extended resources. Throws like claimReference.
 */
export function claimsOfPod(pod: Pod): readonly ClaimReference[] {
  const {extendedResourceClaimStatus: extended} = pod.status ?? {};
  const all = [
    ...(pod.spec.resourceClaims ?? []).flatMap((entry) => claimReference(pod, entry) ?? []),
    ...(extended === undefined ? [] : [{name: extended.resourceClaimName, isOwned: false}]),
  ];
  return all.filter(({name}, index) => all.findIndex((other) => other.name === name) === index);
}

/**
 * Returns what is known of a claim that the pod may use: it belongs to the pod if it must, is reserved for it and allocated
 * (resourceclaim.IsForPod, IsReservedForPod). Throws SystemError with the kubelet's text otherwise.
 */
export function checkPodClaim(pod: Pod, {name, isOwned}: ClaimReference, claim: DeviceClaim): ClaimInfo {
  const owner = podRef(pod);
  const {status} = claim;
  const {uid = ''} = claim.metadata;
  if (isOwned) checkOwner(pod, claim);
  if (status?.reservedFor?.some((reserved) => reserved.uid === owner.uid) !== true)
    throw new SystemError(
      `pod ${owner.name} (${owner.uid}) is not allowed to use ResourceClaim ${name} (${uid})`,
    );
  if (status.allocation === undefined) throw new SystemError(`ResourceClaim ${name}: not allocated`);
  const drivers = (status.allocation.devices?.results ?? []).map(({driver}) => driver);
  return newClaim({uid, name, namespace: owner.namespace, drivers});
}

/** Requires that a claim was created for the pod. Throws SystemError otherwise. */
function checkOwner(pod: Pod, {metadata}: DeviceClaim): void {
  const owner = podRef(pod);
  const {namespace = '', name = '', ownerReferences = []} = metadata;
  const [claim, podName] = [`ResourceClaim ${namespace}/${name}`, `Pod ${owner.namespace}/${owner.name}`];
  if (namespace !== owner.namespace)
    throw new SystemError(`${claim} is not in the same namespace as ${podName}`);
  if (ownerReferences.find(({controller}) => controller === true)?.uid !== owner.uid)
    throw new SystemError(`${claim} was not created for ${podName} (Pod is not owner)`);
}

/** Requests of a claim that a container uses; an empty name stands for all. */
export interface UsedClaim {
  readonly name: string;
  readonly requests: readonly string[];
}

/** Returns the ResourceClaims that a container uses, in the pod's order (Manager GetResources). Throws like claimReference. */
export function claimsOfContainer(pod: Pod, {name, resources = {}}: Container): readonly UsedClaim[] {
  const {claims = [], requests: amounts = {}} = resources;
  const regular = (pod.spec.resourceClaims ?? []).flatMap((entry) => {
    const requests = claims.filter((claim) => claim.name === entry.name).map(({request = ''}) => request);
    const reference = requests.length === 0 ? undefined : claimReference(pod, entry);
    return reference === undefined ? [] : [{name: reference.name, requests}];
  });
  const {extendedResourceClaimStatus: extended} = pod.status ?? {};
  if (extended === undefined) return regular;
  const isUsed = (resource: string): boolean =>
    (isExtendedResource(resource) || resource.startsWith(DEVICE_CLASS_PREFIX)) &&
    quantityValue(amounts[resource] ?? '0') !== 0n;
  const requests = extended.requestMappings
    .filter((mapping) => mapping.containerName === name && isUsed(mapping.resourceName))
    .map(({requestName}) => requestName);
  return requests.length === 0 ? regular : [...regular, {name: extended.resourceClaimName, requests}];
}

/** Reports whether a pod has claims, or resources that DeviceClasses may provide. */
export function mayNeedClaims({spec}: Pod): boolean {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const resources = containers.flatMap((container) => Object.keys(container.resources?.requests ?? {}));
  return (spec.resourceClaims ?? []).length > 0 || resources.some((name) => name.includes('/'));
}
