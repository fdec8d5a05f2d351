import type {ApiObject, ConfigMap, RuntimeClass, Secret, ServiceAccount} from '../../api/v1-objects.js';
import {KcriError} from '../../base/errors.js';

/**
 * The objects that Pods refer to, where a cluster has an API server: those that came with the manifests, valid and
 * with the API's defaults. Lookups give undefined for what isn't there.
 */
export interface ApiObjects {
  /** The files that were read, as the user named them: where a missing object was looked for. */
  readonly sources: readonly string[];
  configMap(namespace: string, name: string): ConfigMap | undefined;
  /** A Secret's values must reach its pod and nobody else: no message, log, plan or record. */
  secret(namespace: string, name: string): Secret | undefined;
  serviceAccount(namespace: string, name: string): ServiceAccount | undefined;
  /** RuntimeClasses have no namespace. */
  runtimeClass(name: string): RuntimeClass | undefined;
  /** Looks again where the objects came from, when that can be; what can't be read now stays as it was. */
  refresh?(): Promise<void>;
}

/** Where objects without a namespace are, unless they belong to none. */
const DEFAULT_NAMESPACE = 'default';

/** Objects by kind, namespace and name; one without a namespace is in `default`, like its Pod. */
export function apiObjects(objects: readonly ApiObject[], sources: readonly string[]): ApiObjects {
  const found = new Map(objects.map((object) => [objectKey(object), object]));
  const find = <K extends ApiObject['kind']>(kind: K, namespace: string, name: string) =>
    // The key begins with the kind.
    found.get(`${kind}/${namespace}/${name}`) as Extract<ApiObject, {readonly kind: K}> | undefined;
  return {
    sources,
    configMap: (namespace, name) => find('ConfigMap', namespace, name),
    secret: (namespace, name) => find('Secret', namespace, name),
    serviceAccount: (namespace, name) => find('ServiceAccount', namespace, name),
    runtimeClass: (name) => find('RuntimeClass', '', name),
  };
}

/** `Kind/namespace/name`, the same for two documents of one object. */
export function objectKey({kind, metadata}: ApiObject): string {
  const {name = '', namespace = ''} = metadata;
  const where = kind === 'RuntimeClass' ? '' : namespace === '' ? DEFAULT_NAMESPACE : namespace;
  return `${kind}/${where}/${name}`;
}

/** For pods that refer to nothing. */
export const NO_OBJECTS: ApiObjects = apiObjects([], []);

/** An object that a Pod refers to is not there; in the API server's words, with where it was looked for as the hint. */
export class ObjectNotFoundError extends KcriError {
  readonly code = 'OBJECT_NOT_FOUND';
}

/** What the API server calls the kinds. */
const RESOURCES = {
  ConfigMap: 'configmap',
  Secret: 'secret',
  ServiceAccount: 'serviceaccount',
  RuntimeClass: 'runtimeclass.node.k8s.io',
} as const satisfies Record<ApiObject['kind'], string>;

/** `configmap "settings" not found`. */
export function objectNotFound(
  {sources}: ApiObjects,
  kind: ApiObject['kind'],
  name: string,
  namespace?: string,
): ObjectNotFoundError {
  const where = sources.length === 0 ? 'no manifest was read' : `looked for in ${sources.join(', ')}`;
  const full = namespace === undefined ? name : `${namespace}/${name}`;
  return new ObjectNotFoundError(`${RESOURCES[kind]} ${JSON.stringify(name)} not found`, {
    hint: `the ${kind} "${full}" must come with the Pod's manifests (${where})`,
  });
}
