import {expect, test} from 'vitest';
import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import {leaveRecordedNode, type LeftNode} from './left-node.js';

const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;
const MINUTE_MS = 60_000;
const NODE_IP = '192.0.2.10';

/** Starts kcri on the node in place of the recorded kubelet, one second after that has stopped. */
async function takeOver(node: LeftNode): Promise<ClusterTestbed> {
  const {rootDir, logsDir, manifests, runtime, stoppedAtMs} = node;
  return await ClusterTestbed.start(
    (api) => {
      for (const pod of node.pods) {
        const {name, namespace} = pod.metadata;
        api.storage.put(`/api/v1/namespaces/${namespace}/pods/${name}`, pod);
      }
      const put = (kind: string, name: string, fields: object): void => {
        const metadata = {name, namespace: 'default'} as StoredObject['metadata'];
        api.storage.put(`/api/v1/namespaces/default/${kind}/${name}`, {metadata, ...fields});
      };
      put('configmaps', 'cfg', {data: {a: '1'}});
      put('secrets', 'sec', {data: {k: 'eA=='}});
      for (const name of ['kube-root-ca.crt', 'openshift-service-ca.crt'])
        put('configmaps', name, {data: {[name.includes('openshift') ? 'service-ca.crt' : 'ca.crt']: 'x'}});
    },
    {
      rootDir,
      logsDir,
      manifests,
      runtime,
      nowMs: stoppedAtMs + 1000,
      node: {nodeIps: [NODE_IP], hostIps: {current: [NODE_IP]}},
    },
  );
}

test('nothing restarts and no status changes on a node that kubelet 1.36.2 has left', async () => {
  const node = await leaveRecordedNode();
  await using testbed = await takeOver(node);
  const {daemon, api} = testbed;
  await daemon.until('all pods are known', () => daemon.view.pods().length === node.pods.length);
  await daemon.clock.sleep(MINUTE_MS);
  const changes = daemon.fake.calls.filter(({method}) => CHANGES.test(method));
  console.log(
    changes.map(({method, request}) => [
      method,
      JSON.stringify(request, (k, v) => (typeof v === 'bigint' ? String(v) : v)).slice(0, 200),
    ]),
    daemon.errors,
    daemon.running,
  );
  console.log(
    JSON.stringify(
      api.requests
        .filter(({method, path}) => method !== 'GET' && path.includes('/pods'))
        .map(({method, path, body}) => [method, path, body]),
      null,
      1,
    ),
  );
  console.log(
    daemon.log
      .filter(({message}) => /static pod/.test(message))
      .map(({message, fields}) => [message, fields]),
  );
});
