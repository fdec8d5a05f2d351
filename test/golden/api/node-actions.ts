import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {applyMergePatch} from '../../fakes/api-server/merge-patch.js';
import {NOW} from '../../fakes/api-server/object-handlers.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

interface Toleration {
  readonly key?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** Path of a Node. */
export const nodePath = (name: string): string => `/api/v1/nodes/${name}`;

/** Deletes a Node and, as the garbage collector, the objects that it owns. */
export function deleteNode(api: FakeApiServer, name: string): void {
  api.storage.delete(nodePath(name));
  api.storage.delete(`/apis/storage.k8s.io/v1/csinodes/${name}`);
  api.storage.delete(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`);
}

/** Changes a Node with a merge patch. */
export function patchNode(api: FakeApiServer, name: string, patch: Readonly<Record<string, unknown>>): void {
  const node = api.storage.get(nodePath(name));
  if (node !== undefined) api.storage.put(nodePath(name), applyMergePatch(node, patch) as StoredObject);
}

/** Sets the taint of `kubectl taint`, such as `k=v:NoExecute`, or removes that of `k-`, and evicts pods. */
export function taintNode(api: FakeApiServer, name: string, argument: string): void {
  const [, key = '', value, effect = ''] =
    /^([^=:]+)(?:=([^:]*))?(?::(\w+))?-?$/.exec(argument.replace(/-$/, '')) ?? [];
  const {taints = []} = (api.storage.get(nodePath(name))?.['spec'] ?? {}) as {
    readonly taints?: readonly Taint[];
  };
  const others = taints.filter((taint) => taint.key !== key);
  const isRemoved = argument.endsWith('-');
  const added = isRemoved ? [] : [{key, ...(value !== undefined && {value}), effect}];
  patchNode(api, name, {spec: {taints: [...others, ...added]}});
  evictPods(api, name);
}

/** Evicts the pods of a node that do not tolerate its taints with the effect NoExecute, as the taint manager does. */
export function evictPods(api: FakeApiServer, nodeName: string): void {
  const {taints = []} = (api.storage.get(nodePath(nodeName))?.['spec'] ?? {}) as {
    readonly taints?: readonly Taint[];
  };
  for (const taint of taints.filter(({effect}) => effect === 'NoExecute'))
    for (const pod of api.storage.list('/api/v1/pods')) evictUnlessTolerated(api, pod, taint);
}

function evictUnlessTolerated(api: FakeApiServer, pod: StoredObject, {key, effect}: Taint): void {
  const {name} = pod.metadata;
  const {tolerations = []} = pod['spec'] as {readonly tolerations?: readonly Toleration[]};
  const toleration = tolerations.find(
    (each) => (each.key ?? key) === key && (each.effect ?? effect) === effect,
  );
  if (toleration === undefined) evict(api, name);
  else if (toleration.tolerationSeconds !== undefined)
    void api.sleep(toleration.tolerationSeconds * 1000).then(() => {
      evict(api, name);
    });
}

function evict(api: FakeApiServer, name: string): void {
  const pod = api.pod(name);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: NOW,
  };
  const path = `/api/v1/namespaces/default/pods/${name}`;
  api.storage.put(path, applyMergePatch(pod, {status: {conditions: [condition]}}) as StoredObject);
  api.deletePod(name);
}
