import type {Node} from '../../../api/types/v1-node.js';
import type {RuntimeClass} from '../../../api/types/v1-objects.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {Service} from '../../../api/services/service-variables.js';
import {decodeApiObject} from '../../../api/json/decode-api-object.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {
  createCollection,
  isNotFound,
  type ApiServer,
  type CollectionOptions,
  type ListedObject,
} from '../../../kube-api/index.js';
import {NO_OBJECTS, withClusterObjects, type ApiObjects} from '../../contract/api-objects.js';
import {findNodePressures, type NodePressure} from '../../contract/cluster/node-pressure.js';
import {nodeObjectFacts, type NodeObjectFacts} from '../../contract/cluster/cluster-link.js';
import {computeTtlMs} from '../objects/change-detection.js';
import {FetchedObject} from '../objects/fetched-object.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {MountedTokens} from './mounted-tokens.js';
import {ClusterObjects, RUNTIME_CLASSES, SERVICES} from './cluster-objects.js';

/** Options of {@link readClusterPods}. */
export interface ReadClusterPodsOptions {
  readonly server: Pick<ApiServer, 'client' | 'url'>;
  readonly node: Pick<NodeFacts, 'nodeName' | 'rootDir'>;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Pods of a node in an API server, with the objects that they use. Disposing of it ends its requests. */
export interface ClusterPods extends Disposable {
  /** Pods that are bound to the node. */
  readonly pods: readonly Pod[];
  /** Labels and taints of the Node object; undefined without one. */
  readonly nodeObject: NodeObjectFacts | undefined;
  /** Pressure conditions of the Node object that are true. */
  readonly pressures: readonly NodePressure[];
  /** Objects that the pods refer to, read on use. No token is requested, since that would issue one. */
  readonly objects: ApiObjects;
}

/**
 * Reads what the API server has for a node, with requests that change nothing. Rejects with ApiError and the errors of
 * connections.
 */
export async function readClusterPods(
  {server, node, clock, random}: ReadClusterPodsOptions,
  signal: AbortSignal,
): Promise<ClusterPods> {
  const {client, url} = server;
  const {nodeName} = node;
  const list = async <T extends ListedObject>(
    collection: Pick<CollectionOptions<T>, 'path' | 'fieldSelector' | 'decode'>,
  ): Promise<readonly T[]> => {
    const {items} = await createCollection<T>({client, ...collection, random}).list('', signal);
    return items;
  };
  const [object, pods, services, runtimeClasses] = await Promise.all([
    readNodeObject(client, nodeName, signal),
    list<Pod>({
      path: '/api/v1/pods',
      fieldSelector: `spec.nodeName=${nodeName}`,
      decode: (value) => decodeApiObject(value, 'Pod'),
    }),
    list<Service>(SERVICES),
    list<RuntimeClass>(RUNTIME_CLASSES),
  ]);
  const nodeObject = nodeObjectFacts(object);
  const objects = new ClusterObjects({
    ...{client, origin: url, clock},
    services: listed(services),
    runtimeClasses: listed(runtimeClasses),
    node: () => ({nodeName, labels: nodeObject?.labels ?? {}}),
    follow: (ref) => new FetchedObject(ref, {client, ttlMs: () => computeTtlMs(object), clock}),
    tokens: new MountedTokens(node),
  });
  return {
    pods,
    nodeObject,
    pressures: findNodePressures(object),
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
  client: ApiServer['client'],
  nodeName: string,
  signal: AbortSignal,
): Promise<Node | undefined> {
  try {
    return (await client.request({method: 'GET', path: `/api/v1/nodes/${nodeName}`}, signal)) as Node;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
