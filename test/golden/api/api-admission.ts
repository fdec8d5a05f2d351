import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import type {ManifestObject} from './api-cases.js';

/** Name of the volume with the service account's token; its last part is random in an API server. */
const TOKEN_VOLUME = 'kube-api-access-abcde';
const TOKEN_MOUNT = {
  name: TOKEN_VOLUME,
  readOnly: true,
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
};
const TOKEN_SOURCES = [
  {serviceAccountToken: {path: 'token', expirationSeconds: 3607}},
  {configMap: {name: 'kube-root-ca.crt', items: [{key: 'ca.crt', path: 'ca.crt'}]}},
  {
    downwardAPI: {
      items: [{path: 'namespace', fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.namespace'}}],
    },
  },
];

interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly serviceAccountName?: string;
  readonly volumes?: readonly object[];
  readonly containers: readonly {readonly volumeMounts?: readonly object[]}[];
  readonly initContainers?: readonly {readonly volumeMounts?: readonly object[]}[];
  readonly tolerations?: readonly object[];
  readonly resourceClaims?: readonly {readonly resourceClaimName: string}[];
}

const RESOURCE_CLAIMS = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';

/** Paths of the collections of kinds that cases create. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  CSIDriver: '/apis/storage.k8s.io/v1/csidrivers',
  ConfigMap: '/api/v1/namespaces/default/configmaps',
  PersistentVolume: '/api/v1/persistentvolumes',
  PersistentVolumeClaim: '/api/v1/namespaces/default/persistentvolumeclaims',
  PriorityClass: '/apis/scheduling.k8s.io/v1/priorityclasses',
  DeviceClass: '/apis/resource.k8s.io/v1/deviceclasses',
  ResourceClaim: RESOURCE_CLAIMS,
  ResourceSlice: '/apis/resource.k8s.io/v1/resourceslices',
  RuntimeClass: '/apis/node.k8s.io/v1/runtimeclasses',
  Secret: '/api/v1/namespaces/default/secrets',
  Service: '/api/v1/namespaces/default/services',
  ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
};

const CLAIM_UID = '00000000-0000-4000-8000-00000000000c';

/** Creates or changes an object as `kubectl apply` does, with what admission, scheduler and controllers add. */
export function applyObject(api: FakeApiServer, object: ManifestObject, nodeName: string): void {
  if (object.kind === 'Pod') {
    const spec = withPriority(api, admitPod(object['spec'] as PodSpec));
    const pod = {metadata: object.metadata, spec: {nodeName, terminationGracePeriodSeconds: 30, ...spec}};
    // A pod with a node in its manifest has passed no scheduler.
    const isScheduled = !('nodeName' in spec);
    const created = api.createPod(
      isScheduled ? pod : {...pod, status: {phase: 'Pending', qosClass: 'BestEffort'}},
    );
    for (const {resourceClaimName} of (object['spec'] as PodSpec).resourceClaims ?? [])
      allocateClaim(api, resourceClaimName, created, nodeName);
    return;
  }
  const collection = COLLECTIONS[object.kind];
  if (collection === undefined) throw new Error(`cannot create a ${object.kind}`);
  const path = `${collection}/${object.metadata.name}`;
  const existing = api.storage.get(path);
  if (existing === undefined) api.create(path, bound(object));
  else api.storage.put(path, {...existing, ...object, metadata: {...existing.metadata, ...object.metadata}});
}

/** Allocates the device `d1` for a claim, and reserves it for a pod, as the scheduler does. */
function allocateClaim(api: FakeApiServer, name: string, {metadata}: StoredObject, nodeName: string): void {
  const path = `${RESOURCE_CLAIMS}/${name}`;
  const claim = api.storage.get(path);
  if (claim === undefined) return;
  const {reservedFor = []} = (claim['status'] ?? {}) as {readonly reservedFor?: readonly object[]};
  const result = {request: 'req', driver: 'dra.example.com', pool: nodeName, device: 'd1'};
  api.storage.put(path, {
    ...claim,
    status: {
      allocation: {devices: {results: [result]}},
      reservedFor: [...reservedFor, {resource: 'pods', name: metadata.name, uid: metadata.uid}],
    },
  });
}

const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Adds the value of the PriorityClass (Priority admission). */
function withPriority(api: FakeApiServer, spec: object): object {
  const {priorityClassName: name} = spec as {readonly priorityClassName?: string};
  if (name === undefined) return spec;
  const priorityClass = api.storage.get(`${COLLECTIONS['PriorityClass']}/${name}`);
  return {...spec, priority: SYSTEM_PRIORITIES[name] ?? priorityClass?.['value']};
}

/** Adds the token volume (ServiceAccount admission). */
function admitPod(spec: PodSpec): object {
  const {serviceAccountName = 'default'} = spec;
  const common = {...spec, serviceAccountName, serviceAccount: serviceAccountName};
  if (spec.automountServiceAccountToken === false) return common;
  const volume = {name: TOKEN_VOLUME, projected: {defaultMode: 420, sources: TOKEN_SOURCES}};
  const withToken = (containers: PodSpec['containers']): object[] =>
    containers.map((container) => ({
      ...container,
      volumeMounts: [...(container.volumeMounts ?? []), TOKEN_MOUNT],
    }));
  return {
    ...common,
    volumes: [...(spec.volumes ?? []), volume],
    containers: withToken(spec.containers),
    ...(spec.initContainers && {initContainers: withToken(spec.initContainers)}),
  };
}

/** Binds claims and volumes, and encodes the texts of Secrets. */
function bound(object: ManifestObject): object {
  const spec = object['spec'] as
    | {readonly claimRef?: object; readonly resources?: {readonly requests?: object}}
    | undefined;
  if (object.kind === 'PersistentVolumeClaim')
    return {
      ...object,
      metadata: {...object.metadata, uid: CLAIM_UID},
      status: {phase: 'Bound', capacity: spec?.resources?.requests},
    };
  if (object.kind === 'PersistentVolume')
    return {
      ...object,
      spec: {volumeMode: 'Filesystem', ...spec, claimRef: {...spec?.claimRef, uid: CLAIM_UID}},
    };
  const {stringData = {}, data = {}} = object as {stringData?: Record<string, string>; data?: object};
  if (object.kind !== 'Secret') return object;
  const encoded = Object.entries(stringData).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return {...object, data: {...data, ...(Object.fromEntries(encoded) as object)}, stringData: undefined};
}
