import type {Node} from '../../../src/api/types/v1-node.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {containersOf} from '../../../src/api/pod-containers.js';
import {isNativeResource} from '../../../src/api/resource-list.js';
import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {GOLDEN_NODE} from '../golden-cases.js';
import type {ManifestObject} from './api-cases.js';
import {nodePath} from './node-actions.js';

/**
 * Reports whether other pods have devices that a pod requests: then the scheduler does not assign it to the node. It has
 * no part in a pod whose manifest names the node.
 */
export function lacksDevices(api: FakeApiServer, object: ManifestObject): boolean {
  if (object.kind !== 'Pod') return false;
  const pod = object as unknown as Pod;
  if (pod.spec.nodeName !== undefined) return false;
  const node = api.storage.get(nodePath(GOLDEN_NODE.nodeName)) as unknown as Node;
  const others = api.storage.list('/api/v1/pods') as unknown as readonly Pod[];
  const used = others.flatMap(requestedDevices);
  return requestedDevices(pod).some(([resource, count]) => {
    const capacity = Number(node.status?.capacity?.[resource] ?? 0);
    const ofOthers = used.reduce((sum, [name, amount]) => (name === resource ? sum + amount : sum), 0);
    return ofOthers > 0 && ofOthers + count > capacity;
  });
}

function requestedDevices(pod: Pod): readonly (readonly [resource: string, count: number])[] {
  return containersOf(pod)
    .flatMap(({resources}) => Object.entries(resources?.limits ?? {}))
    .flatMap(([name, amount]) => (isNativeResource(name) ? [] : [[name, Number(amount)] as const]));
}
