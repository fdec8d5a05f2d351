import {generateName} from '../../../../api/workloads/generated-names.js';
import type {DeviceClass, ResourceClaimSpec} from '../../../../api/types/v1-device-resources.js';
import type {ObjectMeta} from '../../../../api/types/v1-meta.js';
import type {Pod, PodResourceClaim} from '../../../../api/types/v1-pod.js';
import {SystemError} from '../../../../base/errors.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {DeviceObjects} from '../../../contract/resources/device-objects.js';
import type {AllocatedClaim} from './allocated-claim.js';
import {planExtendedResources} from './extended-resource-claim.js';

/** Annotation of a claim that was created for an entry of a pod (PodResourceClaimAnnotation). */
const ENTRY_ANNOTATION = 'resource.kubernetes.io/pod-claim-name';
/** Annotation of the claim of a pod's extended resources (ExtendedResourceClaimAnnotation). */
const EXTENDED_ANNOTATION = 'resource.kubernetes.io/extended-resource-claim';
/** Longest base of a generated name: 63 characters less a hyphen and 5 random ones. */
const LONGEST_BASE = 57;

/** A claim that a pod needs: that of a manifest, or one that is created for the pod. */
export interface NeededClaim {
  readonly metadata: ObjectMeta & {readonly name: string; readonly namespace: string};
  readonly spec: ResourceClaimSpec;
  readonly generatedFor?: AllocatedClaim['generatedFor'];
}

/** Where the claims of a pod come from. */
interface ClaimSources {
  readonly objects: DeviceObjects;
  /** Reports whether a device plugin of the node offers an extended resource. */
  readonly isOffered: (resource: string) => boolean;
  /** Claims that are reserved for the pod; their objects may be gone from the manifests. */
  readonly reserved: readonly AllocatedClaim[];
}

/**
 * Returns the claims that a pod needs, in its order, and last that of its extended resources. Generated ones are named and owned as
 * by the resourceclaim controller. Throws SystemError if a claim or a template is missing.
 */
export function neededClaims(pod: Pod, {objects, isOffered, reserved}: ClaimSources): readonly NeededClaim[] {
  const claims = (pod.spec.resourceClaims ?? []).map(
    (entry) => findReserved(reserved, entry) ?? neededClaim(pod, entry, objects),
  );
  const extended =
    toNeeded(reserved.find(({generatedFor}) => generatedFor?.mappings !== undefined)) ??
    extendedClaim(pod, objects.classes, isOffered);
  const all = extended === undefined ? claims : [...claims, extended];
  // Two entries may name one claim.
  return all.filter(
    ({metadata}, index) => all.findIndex((other) => other.metadata.name === metadata.name) === index,
  );
}

function findReserved(
  reserved: readonly AllocatedClaim[],
  {name: entry, resourceClaimName: name}: PodResourceClaim,
): NeededClaim | undefined {
  return toNeeded(
    reserved.find(({claim, generatedFor}) =>
      name === undefined
        ? generatedFor?.entry === entry
        : generatedFor === undefined && claim.metadata.name === name,
    ),
  );
}

function toNeeded(allocated: AllocatedClaim | undefined): NeededClaim | undefined {
  if (allocated === undefined) return undefined;
  const {claim, generatedFor} = allocated;
  return {metadata: claim.metadata, spec: claim.spec, ...(generatedFor !== undefined && {generatedFor})};
}

function neededClaim(
  pod: Pod,
  {name: entry, resourceClaimName, resourceClaimTemplateName: template}: PodResourceClaim,
  objects: DeviceObjects,
): NeededClaim {
  const {namespace} = podRef(pod);
  if (resourceClaimName !== undefined) {
    const found = objects.claim(namespace, resourceClaimName);
    if (found === undefined) throw missing('ResourceClaim', namespace, resourceClaimName);
    return {metadata: {...found.metadata, name: resourceClaimName, namespace}, spec: found.spec};
  }
  const found = template === undefined ? undefined : objects.template(namespace, template);
  if (found === undefined) throw missing('ResourceClaimTemplate', namespace, template ?? '');
  const {metadata = {}, spec} = found.spec;
  return {
    ...generated(pod, generatedBase(pod.metadata.name ?? '', entry), {
      ...metadata,
      annotations: {...metadata.annotations, [ENTRY_ANNOTATION]: entry},
    }),
    spec,
    generatedFor: {podUid: podRef(pod).uid, entry},
  };
}

/** Returns the claim for extended resources of a pod that DeviceClasses provide; undefined if it has none. */
function extendedClaim(
  pod: Pod,
  classes: readonly DeviceClass[],
  isOffered: (resource: string) => boolean,
): NeededClaim | undefined {
  const {requests, mappings} = planExtendedResources(pod, classes, isOffered);
  if (requests.length === 0) return undefined;
  return {
    ...generated(pod, `${pod.metadata.name ?? ''}-extended-resources-`, {
      annotations: {[EXTENDED_ANNOTATION]: 'true'},
    }),
    spec: {devices: {requests}},
    generatedFor: {podUid: podRef(pod).uid, mappings},
  };
}

/** Returns metadata of a claim of the pod; the name is the same for the same pod. */
function generated(pod: Pod, base: string, {annotations, labels}: ObjectMeta): Pick<NeededClaim, 'metadata'> {
  const {uid, name, namespace} = podRef(pod);
  const owner = {apiVersion: 'v1', kind: 'Pod', name, uid, controller: true};
  return {
    metadata: {
      ...{name: generateName(base, uid), namespace, ownerReferences: [owner]},
      ...(annotations !== undefined && {annotations}),
      ...(labels !== undefined && {labels}),
    },
  };
}

/** Returns the base of a generated name; a long one is cut in both parts (handleClaim of the controller). */
function generatedBase(pod: string, entry: string): string {
  const base = `${pod}-${entry}-`;
  if (base.length <= LONGEST_BASE) return base;
  const cut = (text: string): string => text.slice(0, Math.floor((text.length * LONGEST_BASE) / base.length));
  return `${cut(pod)}-${cut(entry)}`;
}

function missing(
  kind: 'ResourceClaim' | 'ResourceClaimTemplate',
  namespace: string,
  name: string,
): SystemError {
  return new SystemError(`${kind.toLowerCase()}.resource.k8s.io ${JSON.stringify(name)} not found`, {
    hint: `add the ${kind} "${namespace}/${name}" to the manifests of the pod`,
  });
}
