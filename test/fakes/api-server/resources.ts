/** A resource that the server stores. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Such as `pods`. */
  readonly name: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly shortNames: readonly string[];
  readonly subresources: readonly string[];
}

type Options = Partial<Pick<ApiResource, 'isNamespaced' | 'shortNames' | 'subresources'>>;

const CLUSTER_WIDE: Options = {isNamespaced: false};

/** Resources that can be listed and watched. */
export const RESOURCES: readonly ApiResource[] = [
  ...resources('v1', {
    configmaps: ['ConfigMap', {shortNames: ['cm']}],
    events: ['Event'],
    namespaces: ['Namespace', {...CLUSTER_WIDE, shortNames: ['ns']}],
    nodes: ['Node', {...CLUSTER_WIDE, shortNames: ['no'], subresources: ['status']}],
    persistentvolumeclaims: ['PersistentVolumeClaim'],
    persistentvolumes: ['PersistentVolume', CLUSTER_WIDE],
    pods: [
      'Pod',
      {
        shortNames: ['po'],
        subresources: ['attach', 'ephemeralcontainers', 'eviction', 'exec', 'log', 'portforward', 'status'],
      },
    ],
    secrets: ['Secret'],
    services: ['Service', {shortNames: ['svc']}],
  }),
  ...resources('apps/v1', {
    daemonsets: ['DaemonSet', {shortNames: ['ds']}],
    deployments: ['Deployment', {shortNames: ['deploy']}],
    replicasets: ['ReplicaSet', {shortNames: ['rs']}],
    statefulsets: ['StatefulSet', {shortNames: ['sts']}],
  }),
  ...resources('certificates.k8s.io/v1', {
    certificatesigningrequests: ['CertificateSigningRequest', {...CLUSTER_WIDE, shortNames: ['csr']}],
  }),
  ...resources('coordination.k8s.io/v1', {leases: ['Lease']}),
  ...resources('metrics.k8s.io/v1beta1', {nodes: ['NodeMetrics', CLUSTER_WIDE], pods: ['PodMetrics']}),
  ...resources('node.k8s.io/v1', {runtimeclasses: ['RuntimeClass', CLUSTER_WIDE]}),
  ...resources('storage.k8s.io/v1', {
    csidrivers: ['CSIDriver', CLUSTER_WIDE],
    csinodes: ['CSINode', CLUSTER_WIDE],
  }),
];

/** Returns the kind of a resource; empty if the server does not have it. */
export function kindOf(group: string, resource: string): string {
  return RESOURCES.find(({group: ofGroup, name}) => ofGroup === group && name === resource)?.kind ?? '';
}

function resources(
  apiVersion: string,
  named: Readonly<Record<string, readonly [kind: string, options?: Options]>>,
): readonly ApiResource[] {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return Object.entries(named).map(([name, [kind, options]]) => ({
    ...{group, version, name, kind, isNamespaced: true, shortNames: [], subresources: []},
    ...options,
  }));
}
