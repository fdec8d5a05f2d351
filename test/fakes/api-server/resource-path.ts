import {kindOf} from './resources.js';

/** What a path of the API names. */
export interface ResourcePath {
  /** Path of the collection, with the namespace. */
  readonly collection: string;
  /** API group; empty for the core group. */
  readonly group: string;
  readonly apiVersion: string;
  /** Such as `pods`. */
  readonly resource: string;
  /** Kind of the objects; empty for a resource that the server does not list. */
  readonly kind: string;
  readonly namespace: string | undefined;
  /** Name of the object; undefined for a collection. */
  readonly name: string | undefined;
  /** Such as `status`; undefined for the object itself. */
  readonly subresource: string | undefined;
}

const PATTERN =
  /^(?<collection>\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<resource>[^/]+))(?:\/(?<name>[^/]+))?(?:\/(?<subresource>.+))?$/;

/** Parses a path such as `/api/v1/namespaces/default/pods/web/status`. */
export function parseResourcePath(path: string): ResourcePath {
  const {
    collection = path,
    group = '',
    version = '',
    namespace,
    resource = '',
    name,
    subresource,
  } = PATTERN.exec(path)?.groups ?? {};
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return {
    collection,
    group,
    apiVersion,
    namespace,
    resource,
    kind: kindOf(group, resource),
    name,
    subresource,
  };
}
