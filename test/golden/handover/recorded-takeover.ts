import {computeFieldChanges} from '../../../src/kubelet/sources/field-changes.js';
import type {Json} from '../../../src/format/json.js';
import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import type {FakeRuntime} from '../../fakes/fake-runtime.js';
import type {LeftNode} from './left-node.js';

/** Calls that change something in the runtime. */
const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;
/** Containers that started less than ten seconds before a kubelet are not ready until they are probed, in any kubelet. */
const LATER_MS = 12_000;
const NODE_IP = '192.0.2.10';

/** Properties of the recorded node. */
export const RECORDED_NODE = {nodeIps: [NODE_IP], hostIps: {current: [NODE_IP]}};

/** Time at which another kubelet starts in place of the recorded one, after that has stopped. */
export const takeoverTimeMs = ({stoppedAtMs}: LeftNode): number => stoppedAtMs + LATER_MS;

/** Stores the pods of the node in the API server, and the objects that they use. */
export function storeRecordedPods({storage}: FakeApiServer, {pods}: LeftNode): void {
  for (const pod of pods) {
    const {name, namespace} = pod.metadata;
    storage.put(`/api/v1/namespaces/${namespace}/pods/${name}`, pod);
  }
  const put = (kind: string, name: string, fields: object): void => {
    const metadata = {name, namespace: 'default'} as StoredObject['metadata'];
    storage.put(`/api/v1/namespaces/default/${kind}/${name}`, {metadata, ...fields});
  };
  put('configmaps', 'cfg', {data: {a: '1'}});
  put('secrets', 'sec', {data: {k: 'eA=='}});
  for (const name of ['kube-root-ca.crt', 'openshift-service-ca.crt'])
    put('configmaps', name, {data: {[name.includes('openshift') ? 'service-ca.crt' : 'ca.crt']: 'x'}});
}

/** Returns the calls that have changed something in the runtime. */
export const changingCalls = ({calls}: Pick<FakeRuntime, 'calls'>): readonly string[] =>
  calls.flatMap(({method}) => (CHANGES.test(method) ? [method] : []));

/** Returns the pods whose statuses in the API server differ from the recorded ones, with the fields. */
export function changedPods(
  {pods}: LeftNode,
  api: FakeApiServer,
): readonly (readonly [name: string, fields: readonly string[]])[] {
  return pods.flatMap((pod) => {
    const {name, namespace} = pod.metadata;
    const status = api.pod(name, namespace)?.['status'] ?? null;
    const changes = computeFieldChanges(pod['status'] as Json, status as Json);
    return changes.length === 0 ? [] : [[name, changes.map(({path}) => path)] as const];
  });
}

/** Returns the mirror pods of the recorded static pods that the API server does not have any more. */
export function lostMirrorPods({pods}: LeftNode, api: FakeApiServer): readonly string[] {
  return pods
    .filter(({metadata}) => metadata.namespace === 'kube-system')
    .filter(({metadata}) => api.pod(metadata.name, metadata.namespace)?.metadata.uid !== metadata.uid)
    .map(({metadata}) => metadata.name);
}

/** Returns the IDs of the containers that run. */
export const runningIds = (containers: FakeRuntime['containers']): readonly string[] =>
  containers
    .filter(({state}) => state === 'CONTAINER_RUNNING')
    .map(({id}) => id)
    .toSorted();
