import type {ResourceClaimSpec} from '../../../../api/types/v1-device-resources.js';
import type {ObjectMeta} from '../../../../api/types/v1-meta.js';
import type {ResourceClaimConsumerReference} from '../../../../api/types/v1-resource-claims.js';
import type {ContainerExtendedResourceRequest} from '../../../../api/types/v1-status.js';
import {isObject} from '../../../../base/is-object.js';
import type {Allocation} from '../allocation/allocation-types.js';

/** A claim that kcri has allocated devices for. */
export interface AllocatedClaim {
  readonly version: 1;
  /** Process that prepares it: a kubelet, or commands. */
  readonly manager: 'kubelet' | 'sync';
  /** The claim as an API server would have it. */
  readonly claim: {
    readonly metadata: ObjectMeta & {readonly uid: string; readonly name: string; readonly namespace: string};
    readonly spec: ResourceClaimSpec;
    readonly status: {
      readonly allocation: Allocation;
      readonly reservedFor: readonly ResourceClaimConsumerReference[];
    };
  };
  /** For which entry of a pod it was created; undefined for a claim of the manifests. */
  readonly generatedFor?: {
    readonly podUid: string;
    /** Name in spec.resourceClaims; undefined for the claim of the pod's extended resources. */
    readonly entry?: string | undefined;
    /** Which request has which extended resource of a container. */
    readonly mappings?: readonly ContainerExtendedResourceRequest[] | undefined;
  };
  /** What commands have prepared, as a checkpoint of the DRA manager with this claim. */
  readonly prepared?: string;
}

/** Returns a stored claim; undefined if the text is not that of one. */
export function parseAllocatedClaim(text: string): AllocatedClaim | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isAllocatedClaim(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reports whether a value has all that is read of a claim: devices that are not seen would be given away again. */
function isAllocatedClaim(value: unknown): value is AllocatedClaim {
  if (!isObject(value) || value['version'] !== 1 || !isObject(value['claim'])) return false;
  const {metadata, spec, status} = value['claim'];
  if (!isObject(status) || !isObject(status['allocation'])) return false;
  const {devices} = status['allocation'];
  return (
    ['kubelet', 'sync'].includes(String(value['manager'])) &&
    hasTexts(metadata, ['uid', 'name', 'namespace']) &&
    isObject(spec) &&
    isObject(devices) &&
    haveTexts(devices['results'], ['request', 'driver', 'pool', 'device']) &&
    haveTexts(status['reservedFor'], ['resource', 'name', 'uid'])
  );
}

function haveTexts(values: unknown, keys: readonly string[]): boolean {
  return Array.isArray(values) && values.every((value) => hasTexts(value, keys));
}

function hasTexts(value: unknown, keys: readonly string[]): boolean {
  return isObject(value) && keys.every((key) => typeof value[key] === 'string');
}

/** Reports whether a claim is reserved for a pod. */
export function isReservedFor({claim}: AllocatedClaim, podUid: string): boolean {
  return claim.status.reservedFor.some(({uid}) => uid === podUid);
}

/** Returns a claim that is not reserved for a pod any more; undefined if it is reserved for none then: its devices are free. */
export function withoutReservation(one: AllocatedClaim, podUid: string): AllocatedClaim | undefined {
  const {claim} = one;
  const left = claim.status.reservedFor.filter(({uid}) => uid !== podUid);
  if (left.length === 0) return undefined;
  return {...one, claim: {...claim, status: {...claim.status, reservedFor: left}}};
}
