import type {Node} from '../../../api/types/v1-node.js';
import type {RuntimeClass} from '../../../api/types/v1-objects.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {Service} from '../../../api/services/service-variables.js';
import {decodeApiObject} from '../../../api/decoding/decode-api-object.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {
  createCollection,
  isNotFound,
  type ApiServer,
  type CollectionOptions,
  type ListedObject,
} from '../../../kube-api/index.js';
import {NO_OBJECTS, withClusterObjects, type ApiObjects} from '../../contract/api-objects.js';
import {nodeObjectFacts, type NodeObjectFacts} from '../../contract/cluster/cluster-link.js';
import {computeTtlMs} from '../objects/change-detection.js';
import {FetchedObject} from '../objects/fetched-object.js';
import {ClusterObjects, RUNTIME_CLASSES, SERVICES} from './cluster-objects.js';

/** Options of {@link readClusterPods}. */
export interface ReadClusterPodsOptions {
  readonly server: Pick<ApiServer, 'client' | 'url'>;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** What an API server has for a node. Disposing of it ends its requests. */
export interface ClusterPods extends Disposable {
  /** Pods that are bound to the node. */
  readonly pods: readonly Pod[];
  /** Labels and taints of the Node object; undefined without one. */
  readonly nodeObject: NodeObjectFacts | undefined;
  /** Objects that the pods refer to, read on use. Volumes get a placeholder instead of a token, which would be issued. */
  readonly objects: ApiObjects;
}

/** Text in place of a service account token. */
const TOKEN = 'a token that the API server issues when the pod starts';

/**
 * Reads what the API server has for a node, with requests that change nothing. Rejects with ApiError and the errors of
 * connections.
 */
export async function readClusterPods(
  {server, nodeName, clock, random}: ReadClusterPodsOptions,
  signal: AbortSignal,
): Promise<ClusterPods> {
  const {client, url} = server;
  const list = async <T extends ListedObject>(
    collection: Pick<CollectionOptions<T>, 'path' | 'fieldSelector' | 'decode'>,
  ): Promise<readonly T[]> => {
    const {items} = await createCollection<T>({client, ...collection, random}).list('', signal);
    return items;
  };
  const [node, pods, services, runtimeClasses] = await Promise.all([
    readNodeObject({server, nodeName}, signal),
    list<Pod>({
      path: '/api/v1/pods',
      fieldSelector: `spec.nodeName=${nodeName}`,
      decode: (value) => decodeApiObject(value, 'Pod'),
    }),
    list<Service>(SERVICES),
    list<RuntimeClass>(RUNTIME_CLASSES),
  ]);
  const nodeObject = nodeObjectFacts(node);
  const objects = new ClusterObjects({
    ...{client, origin: url, clock},
    services: listed(services),
    runtimeClasses: listed(runtimeClasses),
    node: () => ({nodeName, labels: nodeObject?.labels ?? {}}),
    follow: (ref) => new FetchedObject(ref, {client, ttlMs: () => computeTtlMs(node), clock}),
    tokens: {get: () => TOKEN, load: async () => Promise.resolve(), retain: () => undefined},
  });
  return {
    pods,
    nodeObject,
    objects: withClusterObjects(NO_OBJECTS, objects),
    [Symbol.dispose]: () => {
      objects.stop();
    },
  };
}

function listed<T>(items: readonly T[]): {readonly items: readonly T[]; readonly synced: Promise<void>} {
  return {items, synced: Promise.resolve()};
}

async function readNodeObject(
  {server, nodeName}: Pick<ReadClusterPodsOptions, 'server' | 'nodeName'>,
  signal: AbortSignal,
): Promise<Node | undefined> {
  try {
    return (await server.client.request({method: 'GET', path: `/api/v1/nodes/${nodeName}`}, signal)) as Node;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
