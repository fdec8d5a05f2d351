import type {ConfigMap, Secret} from '../../../api/types/v1-objects.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {podRef} from '../../contract/pod-ref.js';
import {
  configMapNames,
  secretNames,
  syncedSecretNames,
  volumeConfigMapNames,
} from '../../sources/api-object-reference.js';

/** Object whose contents containers receive. */
export type DataObject = ConfigMap | Secret;

/** Identity of an object that a pod refers to. */
export interface DataObjectRef {
  readonly kind: DataObject['kind'];
  readonly namespace: string;
  readonly name: string;
}

/**
 * Returns the ConfigMaps and Secrets that a pod refers to; with `volumesOnly`, those that a running pod
 * needs: for its volumes and image pulls.
 */
export function dataObjectsOf(
  pod: Pod,
  {volumesOnly}: {readonly volumesOnly: boolean},
): readonly DataObjectRef[] {
  const {namespace} = podRef(pod);
  const {spec} = pod;
  const refs = (kind: DataObject['kind'], names: readonly (string | undefined)[]): readonly DataObjectRef[] =>
    [...new Set(names)].flatMap((name = '') => (name === '' ? [] : [{kind, namespace, name}]));
  return [
    ...refs('ConfigMap', (volumesOnly ? volumeConfigMapNames : configMapNames)(spec)),
    ...refs('Secret', (volumesOnly ? syncedSecretNames : secretNames)(spec)),
  ];
}

/** Returns `Kind/namespace/name`. */
export function dataObjectKey({kind, namespace, name}: DataObjectRef): string {
  return `${kind}/${namespace}/${name}`;
}

/** Returns the path of the collection in which the object is. */
export function collectionPath({kind, namespace}: DataObjectRef): string {
  return `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
}
