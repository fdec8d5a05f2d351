/** Resources that can be listed and watched, and their kinds. */
const KINDS: Readonly<Record<string, string>> = {
  certificatesigningrequests: 'CertificateSigningRequest',
  configmaps: 'ConfigMap',
  csidrivers: 'CSIDriver',
  csinodes: 'CSINode',
  leases: 'Lease',
  nodes: 'Node',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  persistentvolumes: 'PersistentVolume',
  pods: 'Pod',
  runtimeclasses: 'RuntimeClass',
  secrets: 'Secret',
  services: 'Service',
};

/** What a path of the API names. */
export interface ResourcePath {
  /** Path of the collection, with the namespace. */
  readonly collection: string;
  /** Such as `pods`. */
  readonly resource: string;
  /** Kind of the objects; empty for a resource that the server does not list. */
  readonly kind: string;
  /** Name of the object; undefined for a collection. */
  readonly name: string | undefined;
  /** Such as `status`; undefined for the object itself. */
  readonly subresource: string | undefined;
}

const PATTERN =
  /^(?<collection>\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/[^/]+(?=\/))?\/(?<resource>[^/]+))(?:\/(?<name>[^/]+))?(?:\/(?<subresource>.+))?$/;

/** Parses a path such as `/api/v1/namespaces/default/pods/web/status`. */
export function parseResourcePath(path: string): ResourcePath {
  const {collection = path, resource = '', name, subresource} = PATTERN.exec(path)?.groups ?? {};
  return {collection, resource, kind: KINDS[resource] ?? '', name, subresource};
}
